// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An answer on offer.
 */
export type ToolRequestUserInputOption = {
/**
 * What it is, for people.
 */
description: string,
/**
 * What the user chooses.
 */
label: string, };
