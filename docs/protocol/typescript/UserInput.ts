// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ImageDetail } from "./ImageDetail";
import type { TextElement } from "./TextElement";

/**
 * One part of a user's input.
 */
export type UserInput = { "type": "text",
/**
 * The text.
 */
text: string,
/**
 * Parts of the text that a client displays in its own way.
 */
text_elements?: Array<TextElement> | null, } | { "type": "image",
/**
 * Level of detail for the model.
 */
detail?: ImageDetail | null, } & ({
/**
 * The URL.
 */
url: string, } | {
/**
 * Id that the provider gave to the file.
 */
fileId: string, }) | { "type": "localImage",
/**
 * Path of the image.
 */
path: string,
/**
 * Level of detail for the model.
 */
detail?: ImageDetail | null, } | { "type": "audio", } & ({
/**
 * The URL.
 */
url: string, } | {
/**
 * Id that the provider gave to the file.
 */
fileId: string, }) | { "type": "localAudio",
/**
 * Path of the recording.
 */
path: string, } | { "type": "skill",
/**
 * Name of the skill.
 */
name: string,
/**
 * Path of the skill.
 */
path: string, } | { "type": "mention",
/**
 * Name that the message uses.
 */
name: string,
/**
 * What the name refers to.
 */
path: string, };
