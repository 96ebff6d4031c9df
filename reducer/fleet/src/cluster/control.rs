//! Accepts the one request that the scheduler sends to an executor: to cancel tasks that nobody waits for.
//!
//! Executors fetch their tasks from the scheduler, so every other request of the engine's protocol is refused.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ballista_core::serde::protobuf::executor_grpc_server::ExecutorGrpc;
use ballista_core::serde::protobuf::{
    CancelTasksParams, CancelTasksResult, LaunchMultiTaskParams, LaunchMultiTaskResult, LaunchTaskParams,
    LaunchTaskResult, RemoveJobDataParams, RemoveJobDataResult, StopExecutorParams, StopExecutorResult,
};
use ballista_executor::executor::Executor as Engine;
use tonic::{Request, Response, Status};

/// The engine that does the tasks of this executor. It is another one after the executor has started anew.
#[derive(Clone)]
pub(super) struct Current(Arc<Mutex<Arc<Engine>>>);

impl Current {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self(Arc::new(Mutex::new(engine)))
    }

    pub(super) fn get(&self) -> Arc<Engine> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set(&self, engine: Arc<Engine>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = engine;
    }
}

/// Ends tasks.
pub(super) struct Control(pub(super) Current);

fn refused<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("executors of trace fleet ask for work"))
}

#[async_trait]
impl ExecutorGrpc for Control {
    async fn launch_task(&self, _: Request<LaunchTaskParams>) -> Result<Response<LaunchTaskResult>, Status> {
        refused()
    }

    async fn launch_multi_task(
        &self,
        _: Request<LaunchMultiTaskParams>,
    ) -> Result<Response<LaunchMultiTaskResult>, Status> {
        refused()
    }

    async fn stop_executor(&self, _: Request<StopExecutorParams>) -> Result<Response<StopExecutorResult>, Status> {
        refused()
    }

    async fn cancel_tasks(&self, request: Request<CancelTasksParams>) -> Result<Response<CancelTasksResult>, Status> {
        let engine = self.0.get();
        let mut cancelled = true;
        for task in request.into_inner().task_infos {
            let ended = engine.cancel_task(task.job_id.into(), task.stage_id as usize, task.task_id as usize).await;
            cancelled &= ended.is_ok();
        }
        Ok(Response::new(CancelTasksResult { cancelled }))
    }

    async fn remove_job_data(&self, _: Request<RemoveJobDataParams>) -> Result<Response<RemoveJobDataResult>, Status> {
        refused()
    }
}
