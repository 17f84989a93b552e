/** A payload as a tree whose members can be chosen, and what a selector chooses in it. */

export interface Node {
  /** What stands before the value: a name, an index; "" for the whole. */
  name: string;
  /** As `format` writes it; null where it cannot choose this. */
  selector: string | null;
  /** A single value as text; null for what has members. */
  text: string | null;
  children: Node[];
}

const PATHS = new Set(["json", "cbor", "msgpack"]);
const DOTTED = new Set(["zigbee2mqtt", "tasmota", "shelly", "shelly_gen1"]);
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MOST_NODES = 2000;

/** The tree of a JSON payload; one line of text for what is none. */
export function tree(payload: string, format: string): Node {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return { name: "", selector: null, text: payload, children: [] };
  }
  const left = { count: MOST_NODES };
  return node("", value, PATHS.has(format) ? "$" : DOTTED.has(format) ? "" : null, format, left);
}

function node(name: string, value: unknown, at: string | null, format: string, left: { count: number }): Node {
  left.count -= 1;
  if (value === null || typeof value !== "object") {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return { name, selector: at === "" ? null : at, text, children: [] };
  }
  const entries = Array.isArray(value)
    ? value.map((each, index) => [String(index), each, true] as const)
    : Object.entries(value).map(([key, each]) => [key, each, false] as const);
  const children: Node[] = [];
  for (const [key, each, isIndex] of entries) {
    if (left.count <= 0) break;
    children.push(node(key, each, below(at, key, isIndex, format), format, left));
  }
  return { name, selector: null, text: null, children };
}

function below(at: string | null, key: string, isIndex: boolean, format: string): string | null {
  if (at === null) return null;
  if (DOTTED.has(format)) {
    if (format === "shelly" && at === "" && /^(src|dst|method)$/.test(key)) return null;
    // A Shelly's values stand below `params`, which its selectors leave out.
    if (format === "shelly" && at === "" && key === "params") return "";
    return isIndex ? null : at === "" ? key : `${at}.${key}`;
  }
  if (isIndex) return `${at}[${key}]`;
  return PLAIN.test(key) ? `${at}.${key}` : `${at}['${key.replace(/['\\]/g, "\\$&")}']`;
}

/** Whether a selector chooses a node: a wildcard chooses each. */
export function isChosen(node: Node, selector: string | undefined): boolean {
  if (!selector || node.selector === null) return false;
  if (node.selector === selector) return true;
  if (!/[*]/.test(selector)) return false;
  const steps = selector.split(/(\.\*|\[\*\]|\[id=\*\])/).map((part) => {
    if (part === ".*") return String.raw`(\.[^.[\]]+|\['[^']*'\])`;
    if (part === "[*]" || part === "[id=*]") return String.raw`\[\d+\]`;
    return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${steps.join("")}$`).test(node.selector);
}

/** What stands before, in and behind what a regular expression of RE2 chooses; null for nothing. */
export function matched(text: string, selector: string): [string, string, string] | null {
  let expression: RegExp;
  try {
    expression = new RegExp(selector.replace(/\(\?P</g, "(?<"), "d");
  } catch {
    return null;
  }
  const found = expression.exec(text);
  const [from, to] = found?.indices?.groups?.value ?? found?.indices?.[1] ?? found?.indices?.[0] ?? [];
  if (from === undefined || to === undefined) return null;
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}
