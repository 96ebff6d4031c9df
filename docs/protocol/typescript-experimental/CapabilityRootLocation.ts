// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where a directory of skills and plugins is.
 */
export type CapabilityRootLocation = { "type": "environment",
/**
 * The environment; the server's machine if nothing is said.
 */
environmentId: string,
/**
 * The path.
 */
path: string, };
