"""Ask, as a person uses it: a question in words, SPARQL with its errors, names, rules."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from gateway.app.gateway import Gateway
from tests.gateway.dashboard.opened import BOTH_EXTREMES, at_home, pictures, send, url

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("dashboard")]

WARM = "Which rooms are too warm and have nobody in them?"


async def asked(gateway: Gateway, text: str) -> list[dict[str, dict[str, str]]]:
    """What the gateway itself answers."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            f"{url(gateway)}query",
            content=text,
            headers={
                "Content-Type": "application/sparql-query",
                "Accept": "application/sparql-results+json",
            },
        )
    rows: list[dict[str, dict[str, str]]] = answer.json()["results"]["bindings"]
    return rows


async def type_in(page: Page, text: str) -> None:
    """Instead of what stands in the editor."""
    field = page.get_by_role("textbox", name="SPARQL")
    await field.click()
    await page.keyboard.press("Control+a")
    await page.keyboard.press("Delete")
    await page.keyboard.insert_text(text)


async def test_a_question_in_words_lives(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway, "ask"))
        await page.get_by_role("button", name=WARM).click()
        rows = page.locator(".rows tbody tr")
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("office")
        await expect(rows).to_contain_text("25.8")
        await expect(page).to_have_title("(1) Ask")
        await expect(page.locator(".editor .cm-content")).to_contain_text("FILTER NOT EXISTS")
        # Whoever is there, and warmer than 21 °C: the kitchen comes as well.
        await page.get_by_label("Limit").fill("21")
        await page.get_by_label("Who is there").select_option("")
        await page.get_by_role("button", name="Keep watching").click()
        await expect(rows).to_have_count(2)
        await send(gateway, ("home/kitchen/temperature", b"19.5"))
        await expect(page.locator("tr[data-mark=went]")).to_contain_text("kitchen")
        await expect(page).to_have_title("(1) Ask")
        await expect(rows).to_have_count(1)
        await send(gateway, ("home/kitchen/temperature", b"24.5"))
        await expect(page.locator("tr[data-mark=came]")).to_contain_text("24.5")
        await send(gateway, ("home/kitchen/temperature", b"24.6"))
        await expect(page.locator("tr[data-mark=changed] td.changed")).to_have_text("24.6")
        await expect(page.locator("tr[data-mark]")).to_have_count(0)
        await pictures(page, "ask-live")
        async with page.expect_download() as csv:
            await page.get_by_role("button", name="CSV").click()
        kept = Path(await (await csv.value).path()).read_text(encoding="utf-8")
        assert kept.splitlines()[0] == "place,temperature,unit,sensor"
        assert sorted(line.split(",")[1] for line in kept.splitlines()[1:]) == ["24.6", "25.8"]
        await page.get_by_role("button", name="Chart").click()
        await expect(page.locator(".bars li")).to_have_count(2)
        await page.get_by_role("button", name="Changes").click()
        notes = page.locator(".changes > li")
        await expect(notes).to_have_count(4)
        await notes.first.locator("summary").click()
        await expect(notes.first).to_contain_text("24.5")
        await page.get_by_role("button", name="Stop watching").click()
        await expect(page.get_by_text("no longer watched")).to_be_visible()
        await expect(page).not_to_have_title("(2) Ask")


async def test_sparql_is_typed_completed_and_corrected(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway, "ask?query=" + quote("SELECT * {\n ?s my:p ?o }")))
        with seat.may_say("400 (Bad Request)"):
            problem = page.get_by_role("alert")
            await expect(problem).to_contain_text(
                "Line 2, column 5: the prefix my: is not declared"
            )
            await expect(page.locator(".editor .cm-lintRange-error")).to_have_text("my:p")
        await type_in(page, "SELECT (COUNT(*) AS ?many) { ?o sosa:observedPrope")
        await expect(problem).to_have_count(0)
        await page.keyboard.press("Control+Space")
        await page.locator(".editor .cm-completionLabel").first.click()
        await page.keyboard.insert_text(" ?p }")
        editor = page.locator(".editor .cm-content")
        await expect(editor).to_contain_text("PREFIX sosa: <http://www.w3.org/ns/sosa/>")
        await expect(editor).to_contain_text("?o sosa:observedProperty ?p }")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".large")).to_contain_text("5")
        # Keys of the page are letters where somebody types.
        await page.keyboard.press("g")
        await page.keyboard.press("n")
        assert page.url.split("#")[1].startswith("/ask")
        await type_in(page, "ASK { ?o sosa:hasSimpleResult 25.8 }")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".large")).to_have_text("Yes")
        await type_in(page, "DESCRIBE <urn:sensor:office-temperature>")
        await expect(page.get_by_role("button", name="Keep watching")).to_be_disabled()
        await page.get_by_role("button", name="Run").click()
        await expect(page.locator(".rows thead")).to_contain_text("predicate")
        await type_in(page, "INSERT DATA { <urn:a> <urn:b> 1 }")
        await expect(page.get_by_text("This is an UPDATE")).to_be_visible()
        await page.keyboard.press("Control+Enter")
        await expect(page.get_by_role("button", name="Run")).to_have_count(0)
        assert await asked(gateway, "SELECT ?o { <urn:a> <urn:b> ?o }") == []
        await page.get_by_role("button", name="Change the store").click()
        await page.get_by_role("button", name="Yes, change it").click()
        await expect(page.get_by_text("1 triples more")).to_be_visible()
        assert len(await asked(gateway, "SELECT ?o { <urn:a> <urn:b> ?o }")) == 1
        many = " UNION ".join("{ ?o sosa:hasSimpleResult ?v }" for _ in range(60))
        await type_in(page, f"SELECT ?o ?v ?n {{ {many} VALUES ?n {{ {json.dumps('x')} }} }}")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".counted")).to_contain_text("300 rows")
        await expect(page.locator(".rows tbody tr").first).to_contain_text("60 ×")


async def test_a_question_is_kept_and_becomes_a_rule(browser: Browser, tmp_path: Path) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway, "ask"))
        await page.get_by_role("button", name=WARM).click()
        await expect(page.locator(".rows tbody tr")).to_have_count(1)
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_label("Name", exact=True).fill("Too warm")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(url(gateway, "ask/TOO_WARM"))
        saved = page.get_by_role("region", name="Saved")
        await expect(saved.get_by_role("link", name="Too warm")).to_contain_text("1")
        await page.reload()
        await expect(page.locator(".rows tbody tr")).to_contain_text("office")
        await page.get_by_role("button", name="Forget Too warm").click()
        await expect(saved).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(saved.get_by_role("link", name="Too warm")).to_be_visible()
        await saved.get_by_role("link", name="Too warm").click()
        await page.get_by_role("button", name="Make a rule").click()
        await page.locator("select", has_text="send a message").select_option("send a message")
        await page.get_by_label("Topic").fill("fan/{rom}/set")
        await expect(page.get_by_text("The query has no ?rom.")).to_be_visible()
        await page.get_by_label("Topic").fill("fan/{temperature}/set")
        await page.get_by_label("Payload").fill('{"state":"ON"}')
        await page.get_by_role("button", name="Show what it would have sent").click()
        await expect(page.get_by_text("it would have sent")).to_contain_text("1 message")
        await expect(page.locator(".rehearsed code")).to_have_text('fan/25.8/set {"state":"ON"}')
        await pictures(page, "ask-rule", BOTH_EXTREMES)
        await page.get_by_role("button", name="Make the rule").click()
        await expect(page.get_by_text("The rule too warm is in force.")).to_be_visible()
        sent = gateway.statistics()["commands_out"]
        await send(gateway, ("home/office/temperature", b"28"))
        await gateway.stages.control.republisher.settled()
        assert gateway.statistics()["commands_out"] == sent + 1
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_text("is in force")).to_have_count(0)
        await send(gateway, ("home/office/temperature", b"29"))
        await expect(page.locator(".rows tbody")).to_contain_text("29")
        assert gateway.statistics()["commands_out"] == sent + 1


async def test_a_question_about_the_last_minutes_has_windows(
    browser: Browser, tmp_path: Path
) -> None:
    async with at_home(browser, tmp_path) as (gateway, seat):
        page = await seat.open(url(gateway, "ask"))
        rows, seen = page.locator(".rows tbody tr"), page.locator(".seen li")
        await page.get_by_label("What", exact=True).select_option("temperature")
        await page.get_by_label("Limit").fill("24")
        how_long = page.get_by_label("Now, for some time")
        await how_long.select_option("as mean of 10 min")
        await expect(page.get_by_text("each counted once")).to_be_visible()
        await page.get_by_role("button", name="Keep watching").click()
        await expect(seen).to_contain_text("urn:window:last-10-min")
        await expect(seen).to_contain_text("complete")
        await send(
            gateway, ("home/office/temperature", b"26"), ("home/kitchen/temperature", b"21.3")
        )
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("office")
        # As GET /windows tells it, which is asked every few seconds.
        await expect(seen).to_contain_text("4 readings")
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_label("Name", exact=True).fill("Warm on average")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(url(gateway, "ask/WARM_ON_AVERAGE"))
        await page.reload()
        await expect(rows).to_contain_text("office")
        await expect(seen).to_have_count(1)
        await page.get_by_role("link", name="Show its readings").click()
        await expect(rows).to_have_count(4)
        await page.get_by_role("link", name="New question").click()
        await page.get_by_label("Limit").fill("24")
        await how_long.select_option("for 10 min")
        await page.get_by_role("button", name="Keep watching").click()
        await expect(rows).to_contain_text("25.8")
        # What is open now is not yet open for ten minutes.
        await page.get_by_label("What", exact=True).select_option("opening")
        await page.get_by_role("button", name="Keep watching").click()
        await expect(page.get_by_text("No rows. Nothing is so just now")).to_be_visible()
        await _explained_over_windows(page, gateway)
        await pictures(page, "ask-window", BOTH_EXTREMES)
        await page.locator(".windows summary").click()
        declared = page.get_by_label("Windows by the names")
        changed = (await declared.input_value()).replace("PT10M", "PT0S")
        await declared.fill("{")
        await expect(page.get_by_role("alert")).to_contain_text("no JSON object of windows")
        await expect(page.get_by_role("button", name="Keep watching")).to_be_disabled()
        await declared.fill(changed)
        await page.get_by_role("button", name="Run").click()
        await expect(page.get_by_role("alert")).to_contain_text("urn:window:last-10-min: range")


async def _explained_over_windows(page: Page, gateway: Gateway) -> None:
    """The operator sees what it looks at, in a tab of his own."""
    other = await page.context.new_page()
    await other.goto(url(gateway, "health/questions"))
    row = other.locator("[data-question]", has_text="opening in any place")
    await row.get_by_role("button", name="Explain").click()
    await expect(other.locator(".explained pre")).to_contain_text("urn:window:last-10-min")
    await expect(other.get_by_role("link", name="Ask it")).to_be_visible()
    await other.close()
