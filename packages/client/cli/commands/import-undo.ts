import type { Command } from 'commander'
import { confirmWork } from '../ask.ts'
import { openContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { followImport } from '../imports/follow.ts'
import { type DataImport, importPath, readImport } from '../imports/job.ts'

const describeEffect = ({ kind, created_orders, updated_orders }: DataImport): string => {
  const effects = [
    ...(created_orders > 0 ? [`deletes ${created_orders} ${kind} that it created`] : []),
    ...(updated_orders > 0 ? [`gives ${updated_orders} ${kind} that it updated their former values`] : []),
  ]
  return effects.join(' and ') || 'changes nothing'
}

async function undoImport(id: string, _options: object, command: Command): Promise<void> {
  // The command above has the option too, and takes it.
  const { yes = false } = command.optsWithGlobals<{ yes?: boolean }>()
  const context = await openContext(command)
  const { client, output } = context
  let row = await readImport({ context, id })
  if (row.status !== 'undoing' && row.status !== 'undone') {
    if (!row.allowed_actions.includes('undo'))
      throw new UsageError(
        row.undo_until === null || row.status === 'importing'
          ? `Import ${id} is ${row.status} and cannot be undone.`
          : `Import ${id} could be undone until ${row.undo_until}.`,
      )
    output.note(
      `The undo of "${row.name}" in ${row.edition.full_name} ${describeEffect(row)}. What has changed since is kept.`,
    )
    await confirmWork('Undo the import?', { yes, otherwise: 'Nothing was undone.' })
    row = (await client.POST('/v1/data-imports/{id}/undo', importPath({ id }))).data
  }
  if (row.status === 'undoing') row = await followImport(context, id, 'Undoing')
  const { status, undone_orders, kept_orders, shared_customer_orders } = row
  output.object(output.isTable ? { id, status, undone_orders, kept_orders, shared_customer_orders } : row)
  if (kept_orders > 0) output.note(`\`ecm api listImportRows id=${id} --all\` says why orders were kept.`)
}

export function addImportUndo(parent: Command): void {
  parent
    .command('undo')
    .description('Undo an import, up to 30 days after its end')
    .argument('<id>', 'id of the import, imp_…')
    .option('--yes', 'undo without a question')
    .addHelpText('after', '\nExamples:\n  ecm import undo imp_…\n  ecm import undo imp_… --yes --json')
    .action(undoImport)
}
