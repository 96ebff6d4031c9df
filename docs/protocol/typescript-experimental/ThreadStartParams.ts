// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { ApprovalsReviewer } from "./ApprovalsReviewer";
import type { AskForApproval } from "./AskForApproval";
import type { DynamicToolSpec } from "./DynamicToolSpec";
import type { JsonValue } from "./JsonValue";
import type { MultiAgentMode } from "./MultiAgentMode";
import type { Personality } from "./Personality";
import type { SandboxMode } from "./SandboxMode";
import type { SelectedCapabilityRoot } from "./SelectedCapabilityRoot";
import type { ThreadHistoryMode } from "./ThreadHistoryMode";
import type { ThreadStartSource } from "./ThreadStartSource";
import type { TurnEnvironmentParams } from "./TurnEnvironmentParams";

/**
 * Params of `thread/start`.
 */
export type ThreadStartParams = {
/**
 * Whether the provider may answer with another model.
 */
allowProviderModelFallback?: boolean | null,
/**
 * When the user is asked.
 */
approvalPolicy?: AskForApproval | null,
/**
 * Who answers approval requests.
 */
approvalsReviewer?: ApprovalsReviewer | null,
/**
 * What the model is told first, instead of the usual.
 */
baseInstructions?: string | null,
/**
 * Settings for this thread only, by their dotted keys.
 */
config?: { [key in string]: JsonValue } | null,
/**
 * The working directory.
 */
cwd?: string | null,
/**
 * Whether the user wants the provider's program for defenders; kept for the client.
 */
daybreakEnabled?: boolean | null,
/**
 * What the model is told besides, from the developer.
 */
developerInstructions?: string | null,
/**
 * Tools that the client runs for the model.
 */
dynamicTools?: Array<DynamicToolSpec> | null,
/**
 * Where commands run.
 */
environments?: Array<TurnEnvironmentParams> | null,
/**
 * Whether the thread is never stored.
 */
ephemeral?: boolean | null,
/**
 * Whether the client wants the model's own events.
 */
experimentalRawEvents?: boolean | null,
/**
 * How the history is stored.
 */
historyMode?: ThreadHistoryMode | null,
/**
 * Does nothing; clients test the gate with it.
 */
mockExperimentalField?: string | null,
/**
 * The model.
 */
model?: string | null,
/**
 * The model provider.
 */
modelProvider?: string | null,
/**
 * When the model starts agents by itself.
 */
multiAgentMode?: MultiAgentMode | null,
/**
 * The permission profile; not together with a sandbox.
 */
permissions?: string | null,
/**
 * The tone of the model.
 */
personality?: Personality | null,
/**
 * The project that it belongs to.
 */
projectId?: string | null,
/**
 * The directories that count as the workspace.
 */
runtimeWorkspaceRoots?: Array<AbsolutePath> | null,
/**
 * What commands of the model may touch.
 */
sandbox?: SandboxMode | null,
/**
 * Directories of skills and plugins that the client chose.
 */
selectedCapabilityRoots?: Array<SelectedCapabilityRoot> | null,
/**
 * The name of the service that the client belongs to.
 */
serviceName?: string | null,
/**
 * The level of service.
 */
serviceTier?: string | null,
/**
 * What made the client start it.
 */
sessionStartSource?: ThreadStartSource | null,
/**
 * What the client says the thread is for.
 */
threadSource?: string | null, };
