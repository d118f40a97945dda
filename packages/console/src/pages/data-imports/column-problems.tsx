import { Alert, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Schema } from '../../api'
import { useChange } from '../../form'
import { Refusal } from '../../parts/refusal'
import { loadWords, plural } from '../../words'
import { type ColumnChange, type Columns, nameColumn, patchColumns } from './columns'
import { nameTarget } from './targets'

const t = await loadWords('dataImports')

type Problem = Schema['ImportRowError']

interface Props {
  id: string
  columns: Columns
  validation: Schema['ColumnMappingValidation']
}

/** Asks the questions that must be answered before the columns can be processed. */
export function ColumnProblems({ id, columns, validation }: Props) {
  const problems = validation.errors.filter(({ row }) => row === null)
  const warnings = validation.warnings.filter(({ row }) => row === null)
  const change = useChange((body: ColumnChange, headers) => patchColumns(id, body, headers))
  if (problems.length + warnings.length === 0) return null
  return (
    <Stack gap="xs">
      {problems.length > 0 && (
        <Alert color="yellow" variant="outline" title={plural(problems.length, t.openQuestions)}>
          <Stack gap="sm">
            {problems.map((problem, index) => (
              <Stack key={index} gap={4}>
                {/* The field says in words of the page what is missing. */}
                {problem.code !== 'missing_target' && <Text size="sm">{problem.message}</Text>}
                <Answer problem={problem} columns={columns} send={change.mutate} />
              </Stack>
            ))}
            {change.error && <Refusal error={change.error} />}
          </Stack>
        </Alert>
      )}
      {warnings.map(({ code, message }, index) => (
        <Alert key={`${code}${index}`} color="blue" variant="outline">
          {message}
        </Alert>
      ))}
    </Stack>
  )
}

interface AnswerProps {
  problem: Problem
  columns: Columns
  send: (change: ColumnChange) => void
}

function Answer({ problem, columns, send }: AnswerProps) {
  const { code, target_field, source_index } = problem
  const column = columns.results.find((one) => one.source_index === source_index)
  if (code === 'missing_target' && target_field !== null)
    return <SourceAnswer target={target_field} columns={columns} send={send} />
  if (code === 'ambiguous_format' && column) return <FormatAnswer problem={problem} columns={columns} send={send} />
  if (code === 'undecided_column' && column)
    return (
      <Group gap="xs">
        {target_field !== null && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => send({ mappings: [{ id: column.id, target_field, is_ignored: false }] })}
          >
            {nameTarget(target_field, columns.target_fields)}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => send({ mappings: [{ id: column.id, target_field: null, is_ignored: true }] })}
        >
          {t.leaveOut}
        </Button>
      </Group>
    )
  return null
}

/** The column of a required target, or one value for every row. */
function SourceAnswer({
  target,
  columns,
  send,
}: {
  target: string
  columns: Columns
  send: (change: ColumnChange) => void
}) {
  const [value, setValue] = useState('')
  const name = nameTarget(target, columns.target_fields)
  return (
    <Group gap="xs" align="end">
      <Select
        size="xs"
        label={`${t.columnFor} ${name}`}
        placeholder={t.column}
        searchable
        data={columns.results.map((column) => ({
          value: column.id,
          label: `${nameColumn(column)} (${column.sample_values.slice(0, 2).join(', ')})`,
        }))}
        value={null}
        onChange={(id) => id !== null && send({ mappings: [{ id, target_field: target, is_ignored: false }] })}
      />
      <TextInput
        size="xs"
        label={t.orConstant}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        disabled={value.trim() === ''}
        onClick={() => send({ constants: [{ target_field: target, value: value.trim() }] })}
      >
        {t.useValue}
      </Button>
    </Group>
  )
}

/** The order of a date or the decimal separator, which the cells leave open. */
function FormatAnswer({ problem, columns, send }: AnswerProps) {
  const column = columns.results.find((one) => one.source_index === problem.source_index)
  const type = columns.target_fields.find(({ key }) => key === problem.target_field)?.type
  if (!column) return null
  const { id, transform } = column
  const args = transform.type === 'date' ? transform.args : {}
  const isAmount = type === 'money' || type === 'quantity'
  const choices = isAmount
    ? ([',', '.'] as const).map((decimal) => ({
        label: t.decimals[decimal],
        transform: { type: 'number' as const, args: { decimal } },
      }))
    : (['dmy', 'mdy', 'ymd'] as const).map((order) => ({
        label: t.dateOrders[order],
        transform: { type: 'date' as const, args: { ...args, order } },
      }))
  return (
    <Group gap="xs">
      {choices.map((choice) => (
        <Button
          key={choice.label}
          size="compact-sm"
          variant="default"
          onClick={() => send({ mappings: [{ id, transform: choice.transform }] })}
        >
          {choice.label}
        </Button>
      ))}
    </Group>
  )
}
