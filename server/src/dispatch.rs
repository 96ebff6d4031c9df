//! Which handler serves which method.

use std::sync::Arc;

use trace_protocol::ClientRequest;
use trace_protocol::methods::method;

use crate::core::Core;
use crate::ingress::Responder;

/// Answers with what a handler returns, whose type is the method's.
macro_rules! answer {
    ($responder:ident, $method:ident, $result:expr) => {{
        let result = $result;
        $responder.respond::<method::$method>(&result)
    }};
}

impl Core {
    /// Serves a request.
    pub(crate) async fn dispatch(self: Arc<Self>, request: ClientRequest, responder: Responder) {
        let core = &*self;
        let id = responder.connection().id();
        match request {
            // The entrance answers it; a second one is refused there too.
            ClientRequest::Initialize(_) => responder.refuse(&trace_protocol::RpcError::already_initialized()),

            ClientRequest::ThreadStart(params) => core.thread_start(*params, responder).await,
            ClientRequest::ThreadResume(params) => core.thread_resume(*params, responder).await,
            ClientRequest::ThreadFork(params) => core.thread_fork(*params, responder).await,
            ClientRequest::ThreadArchive(params) => core.thread_archive(*params, responder).await,
            ClientRequest::ThreadUnarchive(params) => core.thread_unarchive(*params, responder).await,
            ClientRequest::ThreadDelete(params) => core.thread_delete(*params, responder).await,
            ClientRequest::ThreadNameSet(params) => core.name_set(*params, responder).await,
            ClientRequest::ThreadUnsubscribe(params) => {
                answer!(responder, ThreadUnsubscribe, core.thread_unsubscribe(id, &params));
            }
            ClientRequest::ThreadMetadataUpdate(params) => {
                answer!(responder, ThreadMetadataUpdate, core.metadata_update(*params).await);
            }
            ClientRequest::ThreadSettingsUpdate(params) => {
                answer!(responder, ThreadSettingsUpdate, core.settings_update(&params));
            }

            ClientRequest::ThreadList(params) => answer!(responder, ThreadList, core.thread_list(&params).await),
            ClientRequest::ThreadLoadedList(params) => answer!(responder, ThreadLoadedList, core.loaded_list(&params)),
            ClientRequest::ThreadSearch(params) => answer!(responder, ThreadSearch, core.thread_search(*params).await),

            ClientRequest::ThreadRead(params) => answer!(responder, ThreadRead, core.thread_read(*params).await),
            ClientRequest::ThreadTurnsList(params) => {
                answer!(responder, ThreadTurnsList, core.turns_list(*params).await);
            }
            ClientRequest::ThreadItemsList(params) => {
                answer!(responder, ThreadItemsList, core.items_list(*params).await);
            }
            ClientRequest::ThreadItemsRead(params) => {
                answer!(responder, ThreadItemsRead, core.items_read(*params).await);
            }
            ClientRequest::ThreadSearchOccurrences(params) => {
                answer!(responder, ThreadSearchOccurrences, core.search_occurrences(*params).await);
            }
            ClientRequest::ThreadRevert(params) => answer!(responder, ThreadRevert, core.thread_revert(*params).await),
            ClientRequest::ThreadRollback(params) => {
                answer!(responder, ThreadRollback, core.thread_rollback(*params).await);
            }
            ClientRequest::ThreadReadStateUpdate(params) => {
                answer!(responder, ThreadReadStateUpdate, core.read_state_update(*params));
            }
            ClientRequest::ThreadInjectItems(params) => {
                answer!(responder, ThreadInjectItems, core.inject_items(*params));
            }

            ClientRequest::TurnStart(params) => answer!(responder, TurnStart, core.turn_start(*params)),
            ClientRequest::TurnSteer(params) => answer!(responder, TurnSteer, core.turn_steer(&params)),
            ClientRequest::TurnInterrupt(params) => answer!(responder, TurnInterrupt, core.turn_interrupt(&params)),
            ClientRequest::TurnSettingsUpdate(params) => {
                answer!(responder, TurnSettingsUpdate, core.turn_settings_update(&params));
            }
            ClientRequest::ThreadCompactStart(params) => {
                answer!(responder, ThreadCompactStart, core.compact_start(&params));
            }
            ClientRequest::ThreadShellCommand(params) => {
                answer!(responder, ThreadShellCommand, core.shell_command(*params));
            }
            ClientRequest::ReviewStart(params) => answer!(responder, ReviewStart, core.review_start(&params)),
            ClientRequest::ThreadBackgroundTerminalsList(params) => {
                answer!(responder, ThreadBackgroundTerminalsList, core.terminals_list(&params));
            }
            ClientRequest::ThreadBackgroundTerminalsTerminate(params) => {
                answer!(responder, ThreadBackgroundTerminalsTerminate, core.terminals_terminate(&params).await);
            }
            ClientRequest::ThreadBackgroundTerminalsClean(params) => {
                answer!(responder, ThreadBackgroundTerminalsClean, core.terminals_clean(&params).await);
            }

            ClientRequest::ThreadGoalSet(params) => answer!(responder, ThreadGoalSet, core.goal_set(*params)),
            ClientRequest::ThreadGoalGet(params) => answer!(responder, ThreadGoalGet, core.goal_get(&params)),
            ClientRequest::ThreadGoalClear(params) => answer!(responder, ThreadGoalClear, core.goal_clear(*params)),
            ClientRequest::ThreadQueueAdd(params) => answer!(responder, ThreadQueueAdd, core.queue_add(*params)),
            ClientRequest::ThreadQueueList(params) => answer!(responder, ThreadQueueList, core.queue_list(&params)),
            ClientRequest::ThreadQueueUpdate(params) => {
                answer!(responder, ThreadQueueUpdate, core.queue_update(*params));
            }
            ClientRequest::ThreadQueueDelete(params) => {
                answer!(responder, ThreadQueueDelete, core.queue_delete(&params));
            }
            ClientRequest::ThreadQueueReorder(params) => {
                answer!(responder, ThreadQueueReorder, core.queue_reorder(&params));
            }
            ClientRequest::ThreadQueueStart(params) => answer!(responder, ThreadQueueStart, core.queue_start(&params)),

            ClientRequest::TraceList(params) => answer!(responder, TraceList, core.trace_list(*params).await),
            ClientRequest::TraceRead(params) => answer!(responder, TraceRead, core.trace_read(*params).await),
            ClientRequest::TraceSubscribe(params) => {
                core.trace_subscribe(*params, responder).await;
            }
            ClientRequest::TraceUnsubscribe(params) => {
                answer!(responder, TraceUnsubscribe, core.trace_unsubscribe(id, &params));
            }
            other => core.services.serve(other, responder, || core.gauges()).await,
        }
    }
}
