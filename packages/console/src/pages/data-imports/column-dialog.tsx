import {
  ActionIcon,
  Button,
  Checkbox,
  CloseButton,
  Group,
  NumberInput,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustments } from '@tabler/icons-react'
import type { Schema } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { loadWords, words } from '../../words'
import { type Column, nameColumn, patchColumns } from './columns'

const t = await loadWords('dataImports')

type Args = Schema['ImportTransformArgs']
type ValueMap = Column['value_map']

interface Replacement {
  from: string
  to: string
  isLeftOut: boolean
}

interface Values extends Record<string, unknown> {
  type: Schema['ImportTransform']['type']
  args: { [Key in keyof Args]-?: string }
  default_value: string
  target_position: number
  replacements: Replacement[]
}

const readReplacements = (map: ValueMap): Replacement[] =>
  Object.entries(map ?? {}).map(([from, entry]) => ({
    from,
    to: 'to' in entry ? entry.to : '',
    isLeftOut: 'ignore_row' in entry,
  }))

const buildValueMap = (replacements: readonly Replacement[]): ValueMap => {
  const entries = replacements
    .filter(({ from }) => from.trim() !== '')
    .map(({ from, to, isLeftOut }) => [from, isLeftOut ? { ignore_row: true as const } : { to }] as const)
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** The arguments that each transform takes. */
const argsOf: Record<Values['type'], readonly (keyof Args)[]> = {
  none: [],
  trim: [],
  lower: [],
  map: [],
  date: ['order', 'time_zone'],
  number: ['decimal'],
  phone: ['country_code'],
  split_name: ['part'],
}

const buildArgs = ({ type, args }: Values): Args =>
  Object.fromEntries(argsOf[type].flatMap((key) => (args[key] === '' ? [] : [[key, args[key]]])))

/** Edits the reading of a column: its format, blank cells, replaced texts. */
export function ColumnDialog({ id, column }: { id: string; column: Column }) {
  const [isOpen, dialog] = useDisclosure()
  const { transform, default_value, target_position, value_map } = column
  const { order = '', time_zone = '', decimal = '', country_code = '', part = '' } = transform.args
  const initialValues: Values = {
    type: transform.type,
    args: { order, time_zone, decimal, country_code, part },
    default_value: default_value ?? '',
    target_position,
    replacements: readReplacements(value_map),
  }
  const label = `${t.columnSettings}: ${nameColumn(column)}`
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={dialog.open}>
        <IconAdjustments size={16} />
      </ActionIcon>
      <FormDialog
        title={label}
        isOpen={isOpen}
        close={dialog.close}
        size="lg"
        initialValues={initialValues}
        send={(values, headers) =>
          patchColumns(
            id,
            {
              mappings: [
                {
                  id: column.id,
                  transform: { type: values.type, args: buildArgs(values) },
                  default_value: values.default_value || null,
                  target_position: values.target_position,
                  value_map: buildValueMap(values.replacements),
                },
              ],
            },
            headers,
          )
        }
        submitLabel={words.common.save}
      >
        {(form) => (
          <>
            <Text size="xs" c="dimmed" className="break">
              {t.samples}: {column.sample_values.slice(0, 5).join(' · ')}
            </Text>
            <Select
              label={t.transform}
              allowDeselect={false}
              data={Object.entries(t.transforms).map(([value, name]) => ({ value, label: name }))}
              {...form.getInputProps('type')}
            />
            <TransformArgs form={form} />
            <TextInput label={t.defaultValue} {...form.getInputProps('default_value')} />
            <NumberInput
              label={t.position}
              description={t.positionHint}
              min={0}
              {...form.getInputProps('target_position')}
            />
            <ReplacementList form={form} />
          </>
        )}
      </FormDialog>
    </>
  )
}

function TransformArgs({ form }: { form: UseFormReturnType<Values> }) {
  const toData = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([value, label]) => ({ value, label }))
  switch (form.values.type) {
    case 'date':
      return (
        <Group grow align="end">
          <Select label={t.dateOrder} data={toData(t.dateOrders)} {...form.getInputProps('args.order')} />
          <TextInput label={t.timeZone} placeholder="Europe/Copenhagen" {...form.getInputProps('args.time_zone')} />
        </Group>
      )
    case 'number':
      return <Select label={t.decimal} data={toData(t.decimals)} {...form.getInputProps('args.decimal')} />
    case 'phone':
      return <TextInput label={t.countryCode} placeholder="+45" {...form.getInputProps('args.country_code')} />
    case 'split_name':
      return <Select label={t.namePart} data={toData(t.nameParts)} {...form.getInputProps('args.part')} />
    default:
      return null
  }
}

function ReplacementList({ form }: { form: UseFormReturnType<Values> }) {
  const { replacements } = form.values
  return (
    <Stack gap="xs" role="group" aria-label={t.replacements}>
      <Text size="sm" fw={500}>
        {t.replacements}
      </Text>
      {replacements.map(({ isLeftOut }, index) => (
        <Group key={index} gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            size="xs"
            aria-label={t.replaceFrom}
            placeholder={t.replaceFrom}
            {...form.getInputProps(`replacements.${index}.from`)}
          />
          <TextInput
            flex={1}
            size="xs"
            aria-label={t.replaceTo}
            placeholder={t.replaceTo}
            disabled={isLeftOut}
            {...form.getInputProps(`replacements.${index}.to`)}
          />
          <Checkbox
            size="xs"
            label={t.leaveRowOut}
            {...form.getInputProps(`replacements.${index}.isLeftOut`, { type: 'checkbox' })}
          />
          <CloseButton aria-label={words.common.remove} onClick={() => form.removeListItem('replacements', index)} />
        </Group>
      ))}
      <Button
        size="compact-sm"
        variant="default"
        w="fit-content"
        onClick={() => form.insertListItem('replacements', { from: '', to: '', isLeftOut: false })}
      >
        {t.addReplacement}
      </Button>
    </Stack>
  )
}
