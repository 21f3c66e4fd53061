//! Carries the aggregate, with the round that is in it, between client, scheduler and executors.
//!
//! Ballista sends plans, and of a function of ours its stock codec would send the name alone.

use std::sync::Arc;

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::aggregate::{BestCandidates, NAME};
use crate::round::Round;

/// Plans as a client sends them to a scheduler.
#[derive(Debug, Default)]
pub struct LogicalCodec {
    ballista: BallistaLogicalExtensionCodec,
}

/// Plans as a scheduler sends them to executors.
#[derive(Debug, Default)]
pub struct PhysicalCodec {
    ballista: BallistaPhysicalExtensionCodec,
}

fn encode(node: &AggregateUDF, bytes: &mut Vec<u8>) {
    if let Some(ours) = (&**node.inner() as &dyn std::any::Any).downcast_ref::<BestCandidates>() {
        bytes.extend_from_slice(ours.round());
    }
}

fn decode(name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
    if name != NAME {
        return Err(DataFusionError::Plan(format!("there is no aggregate `{name}` here")));
    }
    // A round that cannot be read is refused here, where the message still names it.
    Round::decode(bytes).map_err(DataFusionError::Plan)?;
    Ok(Arc::new(BestCandidates::of(bytes)))
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.ballista.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.ballista.try_encode(node, bytes)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        self.ballista.try_decode_table_provider(bytes, table, schema, context)
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        self.ballista.try_encode_table_provider(table, node, bytes)
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.ballista.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.ballista.try_encode_file_format(bytes, node)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        decode(name, bytes)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        encode(node, bytes);
        Ok(())
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.ballista.try_decode(bytes, inputs, context, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        self.ballista.try_encode(node, bytes, converter)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        decode(name, bytes)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        encode(node, bytes);
        Ok(())
    }
}
