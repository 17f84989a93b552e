/** A text as a QR code: one path, drawn by hand; ISO/IEC 18004. */

import qrcode from "qrcode-generator";

const QUIET = 4;

/** The dark modules as one path of unit squares, and how many modules a side has. */
export function squares(text: string): { path: string; size: number } {
  const code = qrcode(0, "M");
  code.addData(text, "Byte");
  code.make();
  const size = code.getModuleCount();
  let path = "";
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      if (code.isDark(row, column)) path += `M${column + QUIET} ${row + QUIET}h1v1h-1z`;
    }
  }
  return { path, size: size + 2 * QUIET };
}

export function Qr({ text, label }: { text: string; label: string }) {
  const { path, size } = squares(text);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}
