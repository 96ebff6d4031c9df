// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A place where a turn's commands run.
 */
export type TurnEnvironmentParams = {
/**
 * The working directory.
 */
cwd: string,
/**
 * The environment; the server's machine if nothing is said.
 */
environmentId: string,
/**
 * The directories that count as the workspace.
 */
runtimeWorkspaceRoots?: Array<string> | null, };
