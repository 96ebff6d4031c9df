// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An answer to choose from.
 */
export type ToolRequestUserInputOption = {
/**
 * Description for people.
 */
description: string,
/**
 * The choice that is displayed.
 */
label: string, };
