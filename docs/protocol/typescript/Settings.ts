// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Settings of a collaboration mode.
 */
export type Settings = {
/**
 * Name of the model.
 */
model: string,
/**
 * Developer instructions for the model. `null` for the default text of the mode.
 */
developer_instructions?: string | null,
/**
 * Reasoning effort of the model.
 */
reasoning_effort?: string | null, };
