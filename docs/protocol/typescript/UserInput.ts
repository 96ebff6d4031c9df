// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ImageDetail } from "./ImageDetail";
import type { TextElement } from "./TextElement";

/**
 * One part of what a user says.
 */
export type UserInput = { "type": "text",
/**
 * The text.
 */
text: string,
/**
 * Parts of the text that a client shows in its own way.
 */
text_elements?: Array<TextElement> | null, } | { "type": "image",
/**
 * How closely the model looks at it.
 */
detail?: ImageDetail | null, } & ({
/**
 * The address.
 */
url: string, } | {
/**
 * The provider's id of the file.
 */
fileId: string, }) | { "type": "localImage",
/**
 * The path.
 */
path: string,
/**
 * How closely the model looks at it.
 */
detail?: ImageDetail | null, } | { "type": "audio", } & ({
/**
 * The address.
 */
url: string, } | {
/**
 * The provider's id of the file.
 */
fileId: string, }) | { "type": "localAudio",
/**
 * The path.
 */
path: string, } | { "type": "skill",
/**
 * The name.
 */
name: string,
/**
 * The path.
 */
path: string, } | { "type": "mention",
/**
 * The name.
 */
name: string,
/**
 * The path.
 */
path: string, };
