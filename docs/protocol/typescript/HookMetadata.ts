// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { HookEventName } from "./HookEventName";
import type { HookSource } from "./HookSource";
import type { HookTrustStatus } from "./HookTrustStatus";

/**
 * A hook of the configuration.
 */
export type HookMetadata = {
/**
 * A checksum of what it is now.
 */
currentHash: string,
/**
 * Where it stands among the others.
 */
displayOrder: number,
/**
 * Whether it is on.
 */
enabled: boolean,
/**
 * What it is called at.
 */
eventName: HookEventName,
/**
 * Whether it comes from an organisation.
 */
isManaged: boolean,
/**
 * The key.
 */
key: string,
/**
 * Where it comes from.
 */
source: HookSource,
/**
 * The file that it is configured in.
 */
sourcePath: AbsolutePath,
/**
 * How long it may run, in seconds.
 */
timeoutSec: number,
/**
 * Whether it may run.
 */
trustStatus: HookTrustStatus,
/**
 * The most that the hook may add to the context.
 */
additionalContextLimit?: number | null,
/**
 * The environment; the server's machine if nothing is said.
 */
environmentId?: string | null,
/**
 * What it is limited to.
 */
matcher?: string | null,
/**
 * The plugin that it comes with.
 */
pluginId?: string | null,
/**
 * What is shown while it runs.
 */
statusMessage?: string | null, } & ({ "handlerType": "command",
/**
 * The command.
 */
command: string,
/**
 * Whether the server goes on without waiting for it.
 */
async?: boolean | null, } | { "handlerType": "mcpTool",
/**
 * The tool server.
 */
server: string,
/**
 * The tool.
 */
tool: string, } | { "handlerType": "prompt" } | { "handlerType": "agent" });
