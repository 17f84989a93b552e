// Every way in which a page has a browser load a URL, and what the page is told then, as a text:
// a function, for Playwright's `evaluate`, of a URL and the names of some ways (all, where there are
// none), that gives an object from the name of a way to a text.

async ([url, names]) => {
  const NAMES = ["load", "error", "open", "close", "loadedmetadata", "message"];
  const until = (target, attach) =>
    new Promise((tell) => {
      for (const name of NAMES) target.addEventListener(name, (event) => tell(event));
      attach(target);
    });

  const insideOf = (frame) => {
    if (!frame.contentWindow) return "";
    try {
      return frame.contentWindow.document.body.innerText;
    } catch (error) {
      return `${error.name} ${frame.contentWindow.length}`;
    }
  };

  const element = async (tag, attributes) => {
    const made = Object.assign(document.createElement(tag), attributes);
    const event = await until(made, (each) => document.body.append(each));
    const told = `${event.type} ${insideOf(made)}`.trim();
    made.remove();
    return told;
  };

  const fetched = async (url, options) => {
    try {
      const answer = await fetch(url, options);
      return `${answer.type} ${answer.status} ${await answer.text()}`;
    } catch (error) {
      return error.name;
    }
  };

  const posted = (url) => {
    const { origin, pathname, searchParams } = new URL(url);
    return fetched(origin + pathname, { mode: "no-cors", method: "POST", body: searchParams });
  };

  const form = async (url, method) => {
    const frame = Object.assign(document.createElement("iframe"), { name: `${method}${Math.random()}` });
    document.body.append(frame);
    const { origin, pathname, searchParams } = new URL(url);
    const sent = Object.assign(document.createElement("form"), { method, target: frame.name });
    sent.action = origin + pathname;
    for (const [name, value] of searchParams) {
      sent.append(Object.assign(document.createElement("input"), { name, value }));
    }
    document.body.append(sent);
    const event = await until(frame, () => sent.submit());
    return `${event.type} ${insideOf(frame)}`;
  };

  const opened = async (url) => {
    const other = window.open(url);
    if (!other) return "blocked";
    for (let tries = 0; tries < 500; tries += 1) {
      try {
        if (other.document.readyState === "complete" && other.location.href !== "about:blank") break;
      } catch {
        break; // another origin's by now
      }
      await new Promise((next) => setTimeout(next, 10));
    }
    let told = "";
    try {
      told = `${other.location.href} ${other.document.body.innerText}`;
    } catch (error) {
      told = `${error.name} ${other.length}`;
    }
    other.close();
    return told;
  };

  const streamed = async (url) => {
    const source = new EventSource(url);
    const event = await until(source, () => {});
    source.close();
    return event.type;
  };

  const connected = async (url) => {
    const socket = new WebSocket(url.replace("http", "ws"));
    const event = await until(socket, () => {});
    socket.close();
    return event.type;
  };

  const worked = async (url) => {
    const text = `try { importScripts(${JSON.stringify(url)}); postMessage("run") }
      catch (error) { postMessage(error.name) }`;
    const worker = new Worker(URL.createObjectURL(new Blob([text])));
    const event = await until(worker, () => {});
    worker.terminate();
    return `${event.type} ${event.data}`;
  };

  const inSandbox = async (content) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts allow-forms";
    frame.srcdoc = content;
    const event = await until(window, () => document.body.append(frame));
    frame.remove();
    return event.data;
  };

  const tell = (name) => `parent.postMessage('${name}', '*')`;

  const sandboxed = (url) =>
    inSandbox(`<object onload="${tell("load")}" onerror="${tell("error")}"
      data="${url.replaceAll("&", "&amp;")}"></object>`);

  const sandboxedForm = (url) => {
    const { origin, pathname, searchParams } = new URL(url);
    const inputs = [...searchParams].map(([name, value]) => `<input name=${name} value="${value}">`);
    return inSandbox(`<iframe name=inner></iframe>
      <form method=post target=inner action="${origin + pathname}">${inputs.join("")}</form>
      <script>
        document.querySelector("iframe").onload = () => { ${tell("load")} };
        document.forms[0].submit();
      </script>`);
  };

  const loaded = (url) => {
    const found = performance.getEntriesByName(url).map((entry) =>
      [entry.initiatorType, entry.responseStatus, entry.transferSize, entry.encodedBodySize].join(" "));
    return [...new Set(found)].sort().join("; ");
  };

  const WAYS = {
    image: (url) => element("img", { src: url }),
    object: (url) => element("object", { data: url }),
    embed: (url) => element("embed", { src: url }),
    frame: (url) => element("iframe", { src: url }),
    script: (url) => element("script", { src: url }),
    module: (url) => element("script", { type: "module", src: url }),
    stylesheet: (url) => element("link", { rel: "stylesheet", href: url }),
    prefetch: (url) => element("link", { rel: "prefetch", href: url }),
    preload: (url) => element("link", { rel: "preload", as: "image", href: url }),
    video: (url) => element("video", { src: url }),
    "fetch no-cors": (url) => fetched(url, { mode: "no-cors", cache: "no-store" }),
    "fetch cors": (url) => fetched(url, { cache: "no-store" }),
    "fetch POST": posted,
    events: streamed,
    WebSocket: connected,
    "form GET": (url) => form(url, "get"),
    "form POST": (url) => form(url, "post"),
    window: opened,
    worker: worked,
    sandbox: sandboxed,
    "sandbox POST": sandboxedForm,
    timing: loaded,
  };

  const told = {};
  for (const name of names.length ? names : Object.keys(WAYS)) told[name] = await WAYS[name](url);
  return told;
}
