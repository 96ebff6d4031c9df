// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a collaboration mode sets.
 */
export type Settings = {
/**
 * The model.
 */
model: string,
/**
 * What the model is told besides; `null` stands for the mode's own text.
 */
developer_instructions?: string | null,
/**
 * How hard the model thinks.
 */
reasoning_effort?: string | null, };
