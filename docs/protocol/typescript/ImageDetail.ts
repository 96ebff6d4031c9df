// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Level of detail of an image for the model.
 */
export type ImageDetail = "auto" | "low" | "high" | "original";
