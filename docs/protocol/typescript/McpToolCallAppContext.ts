// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The application that a tool belongs to.
 */
export type McpToolCallAppContext = {
/**
 * The id of the application.
 */
connectorId: string,
/**
 * The name of the action within the application.
 */
actionName?: string | null,
/**
 * The name of the application.
 */
appName?: string | null,
/**
 * Id of the link to the application.
 */
linkId?: string | null,
/**
 * URI of the application's user interface.
 */
resourceUri?: string | null, };
