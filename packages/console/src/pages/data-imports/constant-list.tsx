import { Group, Pill, Select, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { loadWords, words } from '../../words'
import { type Columns, patchColumns } from './columns'
import { nameTarget } from './targets'

const t = await loadWords('dataImports')

/** Targets with the same value in every row. */
export function ConstantList({ id, columns, isFixed }: { id: string; columns: Columns; isFixed: boolean }) {
  const [isOpen, dialog] = useDisclosure()
  const remove = useChange((target: string, headers) =>
    patchColumns(id, { constants: [{ target_field: target, value: null }] }, headers),
  )
  const { constants, target_fields } = columns
  const mapped = columns.results.map(({ target_field }) => target_field)
  return (
    <Section
      title={t.constants}
      hint={t.constantsHint}
      actions={
        !isFixed && (
          <ActionButton operation="updateColumnMappings" variant="default" size="xs" onClick={dialog.open}>
            {t.addConstant}
          </ActionButton>
        )
      }
    >
      {remove.error && <Refusal error={remove.error} />}
      <Group gap="xs">
        {constants.map(({ target_field, value, suggested_by }) => (
          <Pill
            key={target_field}
            withRemoveButton={!isFixed}
            onRemove={() => remove.mutate(target_field)}
            removeButtonProps={{ 'aria-label': `${words.common.remove}: ${target_field}`, tabIndex: 0 }}
          >
            {nameTarget(target_field, target_fields)} = {value}
            {suggested_by !== null && ` (${t.origins[suggested_by]})`}
          </Pill>
        ))}
        {constants.length === 0 && (
          <Text size="sm" c="dimmed">
            {words.common.none}
          </Text>
        )}
      </Group>
      <FormDialog
        title={t.addConstant}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{ target_field: '', value: '' }}
        canSubmit={({ target_field, value }) => target_field !== '' && value.trim() !== ''}
        send={({ target_field, value }, headers) =>
          patchColumns(id, { constants: [{ target_field, value: value.trim() }] }, headers)
        }
        submitLabel={words.common.add}
      >
        {(form) => (
          <>
            <Select
              label={t.becomes}
              searchable
              data={target_fields
                .filter(({ key }) => !mapped.includes(key))
                .map(({ key }) => ({ value: key, label: nameTarget(key, target_fields) }))}
              {...form.getInputProps('target_field')}
            />
            <TextInput label={t.valueInEveryRow} {...form.getInputProps('value')} />
          </>
        )}
      </FormDialog>
    </Section>
  )
}
