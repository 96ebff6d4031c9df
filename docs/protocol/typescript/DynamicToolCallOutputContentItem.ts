// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * One part of the result of a client's tool.
 */
export type DynamicToolCallOutputContentItem = { "type": "inputText",
/**
 * The text.
 */
text: string, } | { "type": "inputImage",
/**
 * URL of the image, which may be a data URL.
 */
imageUrl: string, } | { "type": "inputAudio",
/**
 * URL of the audio recording, which may be a data URL.
 */
audioUrl: string, };
