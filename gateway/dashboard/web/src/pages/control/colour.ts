/** Colours as devices write them, and as a colour field does (`#rrggbb`). */

export type ColourForm = "hex" | "rgb" | "homie" | "hsb";

const HEX = /^#?([0-9a-f]{6})$/i;

/** How a device writes colours: by what it said last, else by where it listens. */
export function formOf(told: string, commandTopic: string, family: string): ColourForm {
  if (HEX.test(told)) return "hex";
  if (/^rgb,/.test(told)) return "homie";
  if (/hsbcolor$/i.test(commandTopic)) return "hsb";
  if (/^\d+,\d+,\d+$/.test(told)) return "rgb";
  return family === "homie" ? "homie" : "hex";
}

/** `#rrggbb` in the device's words. */
export function toDevice(hex: string, form: ColourForm): string {
  const parts = channels(hex);
  if (form === "rgb") return parts.join(",");
  if (form === "homie") return `rgb,${parts.join(",")}`;
  if (form === "hsb") return toHsb(parts).join(",");
  return hex;
}

/** What a device said, as `#rrggbb`; "" for what is no colour in this form. */
export function fromDevice(told: string, form: ColourForm): string {
  const hex = HEX.exec(told);
  if (hex?.[1]) return `#${hex[1].toLowerCase()}`;
  const numbers = told.replace(/^rgb,/, "").split(",").map(Number);
  if (numbers.length !== 3 || numbers.some((each) => !Number.isFinite(each) || each < 0)) return "";
  const parts = form === "hsb" ? fromHsb(numbers) : numbers;
  return `#${parts.map((each) => Math.min(Math.round(each), 255).toString(16).padStart(2, "0")).join("")}`;
}

function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
}

/** 0–360, 0–100, 0–100. */
function toHsb(parts: number[]): number[] {
  const [red = 0, green = 0, blue = 0] = parts.map((each) => each / 255);
  const most = Math.max(red, green, blue);
  const span = most - Math.min(red, green, blue);
  let hue = 0;
  if (span > 0) {
    if (most === red) hue = ((green - blue) / span) % 6;
    else if (most === green) hue = (blue - red) / span + 2;
    else hue = (red - green) / span + 4;
  }
  return [Math.round((hue * 60 + 360) % 360), Math.round(most ? (span / most) * 100 : 0), Math.round(most * 100)];
}

function fromHsb(numbers: number[]): number[] {
  const [hue = 0, saturation = 0, brightness = 0] = numbers;
  return [5, 3, 1].map((offset) => {
    const at = (offset + hue / 60) % 6;
    return ((255 * brightness) / 100) * (1 - (saturation / 100) * Math.max(0, Math.min(at, 4 - at, 1)));
  });
}
