// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RequestId } from "./RequestId";

/**
 * Params of the notification `serverRequest/resolved`.
 */
export type ServerRequestResolvedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the request.
 */
requestId: RequestId, };
