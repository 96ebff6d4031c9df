// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How closely the model looks at a picture.
 */
export type ImageDetail = "auto" | "low" | "high" | "original";
