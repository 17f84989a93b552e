import "./styles/tokens.css";
import "./styles/frame.css";
import { render } from "preact";
import { App } from "./frame/App";
import { foresee } from "./frame/pages";
import { subscriptions } from "./protocol/session";
import { address } from "./state/address";

window.addEventListener("online", () => subscriptions.wake());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) subscriptions.wake();
});

foresee(address.peek().page);

const root = document.getElementById("page");
if (root) render(<App />, root);
