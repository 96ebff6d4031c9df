// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ImageDetail } from "./ImageDetail";

/**
 * One part of what a function answered.
 */
export type FunctionCallOutputContentItem = { "type": "input_text",
/**
 * The text.
 */
text: string, } | { "type": "input_image",
/**
 * How closely the model looks at it.
 */
detail?: ImageDetail | null, } & ({
/**
 * The address.
 */
image_url: string, } | {
/**
 * The provider's id of the file.
 */
file_id: string, }) | { "type": "input_audio", } & ({
/**
 * The address.
 */
audio_url: string, } | {
/**
 * The provider's id of the file.
 */
file_id: string, }) | { "type": "encrypted_content",
/**
 * What only the model can read.
 */
encrypted_content: string, };
