import { Input, Stack, Switch } from '@mantine/core'
import { ConditionEditor } from '../../parts/conditions/condition-editor'
import { loadWords } from '../../words'
import { useEditing } from './editing'

const t = await loadWords('emailMessages')

interface Props {
  condition: string | undefined
  /** The path of the condition in the draft. */
  path: string
  onChange: (condition: string | undefined) => void
}

/** Limits a block to a part of the recipients. Only messages of campaigns can do this. */
export function ConditionField({ condition, path, onChange }: Props) {
  const { organization, edition, messageType, faults } = useEditing()
  const fault = faults[path]
  if (messageType !== 'campaign' && condition === undefined) return null
  return (
    <Stack gap="xs">
      <Switch
        label={t.onlyForSome}
        checked={condition !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? 'stats.order_count >= 1' : undefined)}
      />
      {condition !== undefined ? (
        <ConditionEditor value={condition} onChange={onChange} people={{ organization, edition }} error={fault} />
      ) : (
        fault && <Input.Error role="alert">{fault}</Input.Error>
      )}
    </Stack>
  )
}
