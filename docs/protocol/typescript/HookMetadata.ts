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
 * Hash of its current definition.
 */
currentHash: string,
/**
 * Position among the other hooks.
 */
displayOrder: number,
/**
 * Whether it is enabled.
 */
enabled: boolean,
/**
 * The event at which the hook runs.
 */
eventName: HookEventName,
/**
 * Whether an organization manages it.
 */
isManaged: boolean,
/**
 * The key of the hook in the configuration.
 */
key: string,
/**
 * Where the hook is configured.
 */
source: HookSource,
/**
 * The file that configures the hook.
 */
sourcePath: AbsolutePath,
/**
 * Timeout in seconds.
 */
timeoutSec: number,
/**
 * Whether it is trusted to run.
 */
trustStatus: HookTrustStatus,
/**
 * Greatest length of the context that the hook may add.
 */
additionalContextLimit?: number | null,
/**
 * Id of the environment. Without it, the server's machine.
 */
environmentId?: string | null,
/**
 * The matcher that limits when it runs.
 */
matcher?: string | null,
/**
 * Id of the plugin that it belongs to.
 */
pluginId?: string | null,
/**
 * Message that is shown while it runs.
 */
statusMessage?: string | null, } & ({ "handlerType": "command",
/**
 * The command.
 */
command: string,
/**
 * Whether the server continues without waiting for the command.
 */
async?: boolean | null, } | { "handlerType": "mcpTool",
/**
 * Name of the MCP server.
 */
server: string,
/**
 * Name of the tool.
 */
tool: string, } | { "handlerType": "prompt" } | { "handlerType": "agent" });
