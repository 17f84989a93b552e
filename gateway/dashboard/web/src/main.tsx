import "./styles/tokens.css";
import "./styles/frame.css";
import { render } from "preact";
import { App } from "./frame/App";
import { subscriptions } from "./protocol/session";

window.addEventListener("online", () => subscriptions.wake());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) subscriptions.wake();
});

const root = document.getElementById("page");
if (root) render(<App />, root);
