// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RequestId } from "./RequestId";

/**
 * Params of the notification `serverRequest/resolved`.
 */
export type ServerRequestResolvedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * The request.
 */
requestId: RequestId, };
