// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A kind of input that a model accepts.
 */
export type InputModality = "text" | "image" | "audio";
