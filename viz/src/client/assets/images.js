/** Pictures: those that a person attaches to a message, and those that the protocol carried. */

import { element } from "../../page/assets/dom.js";
import { line } from "./texts.js";

/** Most bytes of a picture in a message, as the server has it. */
export const MAX_IMAGE_BYTES = 20 << 20;

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=\s]+$/;

/**
 * Returns a picture for an address of the protocol. Only data that the protocol carried is shown; for anything else, the
 * address is.
 *
 * @param {string} url
 * @returns {HTMLElement}
 */
export function picture(url) {
  const text = String(url ?? "");
  if (PICTURE.test(text)) return element("img", { src: text, alt: "attached picture", class: "picture" });
  return element("span", { class: "quiet", text: `[picture: ${line(text, 200)}]` });
}

/**
 * Reads the pictures among files.
 *
 * @param {Iterable<File>} files
 * @returns {Promise<{urls: string[], refused: string[]}>} data URLs, and the reasons why others were refused
 */
export async function readPictures(files) {
  const [urls, refused] = [[], []];
  for (const file of files) {
    if (!file.type.startsWith("image/")) refused.push(`${line(file.name)} is not a picture`);
    else if (file.size > MAX_IMAGE_BYTES) refused.push(`${line(file.name)} has more than ${MAX_IMAGE_BYTES >> 20} MiB`);
    else urls.push(await dataUrl(file));
  }
  return { urls, refused };
}

function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
