// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `collaborationMode/list`.
 */
export type CollaborationModeListParams = Record<symbol, never>;
