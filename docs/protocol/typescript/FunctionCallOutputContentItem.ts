// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ImageDetail } from "./ImageDetail";

/**
 * One part of the output of a function.
 */
export type FunctionCallOutputContentItem = { "type": "input_text",
/**
 * The text.
 */
text: string, } | { "type": "input_image",
/**
 * Level of detail for the model.
 */
detail?: ImageDetail | null, } & ({
/**
 * The URL.
 */
image_url: string, } | {
/**
 * Id that the provider gave to the file.
 */
file_id: string, }) | { "type": "input_audio", } & ({
/**
 * The URL.
 */
audio_url: string, } | {
/**
 * Id that the provider gave to the file.
 */
file_id: string, }) | { "type": "encrypted_content",
/**
 * The encrypted content.
 */
encrypted_content: string, };
