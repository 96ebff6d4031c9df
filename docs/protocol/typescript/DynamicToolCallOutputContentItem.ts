// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * One part of what a client's tool answers.
 */
export type DynamicToolCallOutputContentItem = { "type": "inputText",
/**
 * The text.
 */
text: string, } | { "type": "inputImage",
/**
 * The address of the picture, which may hold the data itself.
 */
imageUrl: string, } | { "type": "inputAudio",
/**
 * The address of the recording, which may hold the data itself.
 */
audioUrl: string, };
