/** Colours, patterns and fonts of the timeline, read from the current style sheet. */

const NAMES = [
  "ground", "gutter", "text", "muted", "line", "grid", "life", "turn", "turn-line", "chosen",
  "model", "tool", "code", "wait", "wait-line", "retry", "compaction", "other", "failed", "on-bar", "hatch",
  "select", "found", "down", "message", "up", "lost", "view",
];

/** Width of the stripes in bars of failures, in pixels. */
const STRIPE = 6;

/**
 * Reads the colours: `{ground, text, ...}` as values that a canvas takes, and `family`, the font.
 *
 * @param {HTMLElement} host
 * @returns {Object<string, string>}
 */
export function readColours(host) {
  // A custom property is read as it was written, with other variables in it. The computed colour of an element is
  // resolved.
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const colours = {};
  for (const name of NAMES) {
    probe.style.color = `var(--timeline-${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  colours.family = getComputedStyle(host).fontFamily;
  return colours;
}

/**
 * Makes the patterns: `{hatch, dots}`. They repeat in units of the page and are moved with the bar that they fill.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Object<string, string>} colours
 * @param {number} ratio pixels of the device per pixel of the page
 */
export function makePatterns(context, colours, ratio) {
  return {
    hatch: pattern(context, ratio, STRIPE, (brush) => {
      brush.strokeStyle = colours.hatch;
      brush.lineWidth = 2;
      brush.beginPath();
      for (const shift of [-STRIPE, 0, STRIPE]) {
        brush.moveTo(shift - 1, STRIPE + 1);
        brush.lineTo(shift + STRIPE + 1, -1);
      }
      brush.stroke();
    }),
    dots: pattern(context, ratio, 5, (brush) => {
      brush.fillStyle = colours["wait-line"];
      brush.globalAlpha = 0.55;
      brush.fillRect(1, 2, 1, 1);
    }),
  };
}

function pattern(context, ratio, size, draw) {
  const tile = document.createElement("canvas");
  const pixels = Math.max(1, Math.round(size * ratio));
  tile.width = pixels;
  tile.height = pixels;
  const brush = tile.getContext("2d");
  brush.scale(pixels / size, pixels / size);
  draw(brush);
  const made = context.createPattern(tile, "repeat");
  made.setTransform(new DOMMatrix().scale(size / pixels));
  return made;
}
