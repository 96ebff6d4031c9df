// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The location of a directory with skills and plugins.
 */
export type CapabilityRootLocation = { "type": "environment",
/**
 * Id of the environment.
 */
environmentId: string,
/**
 * Path of the directory.
 */
path: string, };
