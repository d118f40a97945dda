import { Anchor, Input, Stack, Text } from '@mantine/core'
import { useId, useRef } from 'react'
import type { Schema } from '../../api'
import { loadWords } from '../../words'

const segmentsWords = await loadWords('segments')

const t = segmentsWords.conditions

type Issue = Schema['CelIssue'] & { suggestion?: string | null }

interface Props {
  label: string
  value: string
  onChange: (expression: string) => void
  errors: readonly Issue[]
  warnings: readonly Issue[]
  isDisabled?: boolean
}

/** Splits a text where marks begin and end. */
function splitAt(text: string, issues: readonly Issue[]): { text: string; isMarked: boolean; start: number }[] {
  const clamp = (place: number) => Math.max(0, Math.min(place, text.length))
  const ranges = issues.map(({ start, end }) => ({ start: clamp(start), end: clamp(Math.max(end, start + 1)) }))
  const places = [...new Set([0, text.length, ...ranges.flatMap(({ start, end }) => [start, end])])].toSorted(
    (a, b) => a - b,
  )
  return places.slice(0, -1).map((start, index) => ({
    text: text.slice(start, places[index + 1]),
    isMarked: ranges.some((range) => range.start <= start && start < range.end),
    start,
  }))
}

/** An expression as text. The same text lies below the field and underlines what is wrong. */
export function CelArea({ label, value, onChange, errors, warnings, isDisabled = false }: Props) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const show = ({ start, end }: Issue) => {
    area.current?.focus()
    area.current?.setSelectionRange(start, Math.max(end, start + 1))
  }
  return (
    <Stack gap={4}>
      <Input.Label htmlFor={id}>{label}</Input.Label>
      <div className="cel">
        <pre aria-hidden>
          {splitAt(value, errors).map((part) =>
            part.isMarked ? <mark key={part.start}>{part.text}</mark> : <span key={part.start}>{part.text}</span>,
          )}{' '}
        </pre>
        <textarea
          ref={area}
          id={id}
          value={value}
          disabled={isDisabled}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          aria-invalid={errors.length > 0}
          aria-describedby={`${id}-issues`}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      </div>
      <div id={`${id}-issues`} aria-live="polite">
        {errors.map((issue) => (
          <IssueLine key={`e${issue.start}${issue.message}`} issue={issue} colour="red" show={show} />
        ))}
        {warnings.map((issue) => (
          <IssueLine key={`w${issue.start}${issue.message}`} issue={issue} colour="dimmed" show={show} />
        ))}
      </div>
    </Stack>
  )
}

interface LineProps {
  issue: Issue
  colour: 'red' | 'dimmed'
  show: (issue: Issue) => void
}

const IssueLine = ({ issue, colour, show }: LineProps) => (
  <Text size="sm" c={colour === 'red' ? 'var(--mantine-color-error)' : 'dimmed'}>
    <Anchor component="button" type="button" size="sm" c="inherit" td="underline" onClick={() => show(issue)}>
      {t.place.replace('{line}', String(issue.line)).replace('{column}', String(issue.column))}
    </Anchor>{' '}
    {issue.message} {issue.suggestion && `${t.suggestion} ${issue.suggestion}`}
  </Text>
)
