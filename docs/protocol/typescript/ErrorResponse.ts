// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RequestId } from "./RequestId";
import type { RpcError } from "./RpcError";

export type ErrorResponse = { "id": RequestId, "error": RpcError };
