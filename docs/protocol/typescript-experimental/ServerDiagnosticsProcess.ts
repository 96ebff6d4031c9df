// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The process of the server.
 */
export type ServerDiagnosticsProcess = {
/**
 * The id.
 */
id: number,
/**
 * The memory that the machine charges it with, in bytes.
 */
physicalFootprintBytes?: number | null,
/**
 * Its memory, in bytes.
 */
residentMemoryBytes?: number | null, };
