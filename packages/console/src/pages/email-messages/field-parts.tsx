import { Group, Input, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'

export interface LineProps {
  label: string
  mark?: ReactNode
  value: string
  onChange: (text: string) => void
  error?: string | undefined
  language?: string
  placeholder?: string
  isRequired?: boolean
}

interface AreaProps extends LineProps {
  inputRef: React.RefObject<HTMLTextAreaElement | null>
  minRows?: number
}

/** HTML as it is stored. */
export const SourceArea = ({ inputRef, label, value, onChange, error, language, minRows = 5 }: AreaProps) => (
  <Textarea
    ref={inputRef}
    aria-label={label}
    autosize
    minRows={minRows}
    maxRows={20}
    lang={language}
    classNames={{ input: 'source' }}
    spellCheck
    value={value}
    error={error}
    onChange={(event) => onChange(event.currentTarget.value)}
  />
)

/** The value of the field with the text in place of what is selected. The cursor is left behind the text. */
export function insertAtCursor(field: HTMLInputElement | HTMLTextAreaElement | null, text: string): string {
  if (!field) return text
  const { value } = field
  const start = field.selectionStart ?? value.length
  const end = field.selectionEnd ?? value.length
  requestAnimationFrame(() => {
    field.focus()
    field.setSelectionRange(start + text.length, start + text.length)
  })
  return value.slice(0, start) + text + value.slice(end)
}

export const FieldLabel = ({ label, mark, children }: { label: string; mark?: ReactNode; children?: ReactNode }) => (
  <Group justify="space-between" gap="xs" wrap="nowrap" align="end">
    <Group gap="xs">
      <Input.Label component="div" className="break">
        {label}
      </Input.Label>
      {mark}
    </Group>
    {children}
  </Group>
)
