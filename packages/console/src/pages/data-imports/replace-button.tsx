import { Button, Checkbox, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api, type Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords } from '../../words'
import { patchColumns } from './columns'
import type { DataImport } from './use-import'

const t = await loadWords('dataImports')

type Problem = Schema['ImportRowProblem']

/** Finds the column of a problem. Two columns can have the same header, so the target decides. */
async function loadColumn(id: string, { column, target_field }: Problem) {
  const path = '/v1/data-imports/{id}/column-mappings'
  const { data } = await api.GET(path, { params: { path: { id }, query: { page_size: 500 } } })
  return (
    data.results.find((one) => one.target_field === target_field && one.source_column === column) ??
    data.results.find((one) => one.source_column === column)
  )
}

/** Replaces a text that cannot be read, in all rows of the file, and reads the rows again. */
export function ReplaceButton({ row, problem }: { row: DataImport; problem: Problem }) {
  const [isOpen, dialog] = useDisclosure()
  const from = problem.value ?? ''
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={dialog.open}>
        {t.replace}
      </Button>
      <FormDialog
        title={t.replace}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{ to: '', isLeftOut: false }}
        canSubmit={({ to, isLeftOut }) => isLeftOut || to !== ''}
        send={async ({ to, isLeftOut }, headers) => {
          const column = await loadColumn(row.id, problem)
          if (!column) throw new Error(problem.message)
          const entry = isLeftOut ? { ignore_row: true as const } : { to }
          const value_map = { ...column.value_map, [from]: entry }
          await patchColumns(row.id, { mappings: [{ id: column.id, value_map }] }, headers)
          return api.POST('/v1/data-imports/{id}/column-mappings/process', { params: { path: { id: row.id } } })
        }}
        submitLabel={t.replace}
      >
        {(form) => (
          <>
            <Text size="sm" className="break">
              {t.replaceHint.replace('#', () => from)}
            </Text>
            <TextInput label={t.replaceTo} disabled={form.values.isLeftOut} {...form.getInputProps('to')} />
            <Checkbox label={t.leaveRowsOut} {...form.getInputProps('isLeftOut', { type: 'checkbox' })} />
            <Text size="xs" c="dimmed">
              {t.replaceCase}
            </Text>
          </>
        )}
      </FormDialog>
    </>
  )
}
