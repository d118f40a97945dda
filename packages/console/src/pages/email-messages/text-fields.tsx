import { Badge, Input, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { isMissing, setText, type Texts } from '../../parts/content-languages'
import { nameLanguage } from '../../parts/names'
import { loadWords } from '../../words'
import { useEditing } from './editing'
import { insertAtCursor, type LineProps } from './field-parts'
import { HtmlField } from './html-field'
import { VariableMenu } from './variable-menu'

const t = await loadWords('emailMessages')

interface TextsProps {
  label: string
  description?: ReactNode
  /** The path of the texts in the draft, such as `blocks.0.data.text`. */
  path: string
  texts: Texts
  onChange: (texts: Texts) => void
  kind?: 'line' | 'html'
  isRequired?: boolean
}

/** A text in each of the languages that are shown, side by side. A text that others have and this one lacks is marked. */
export function TextsField({ label, description, path, texts, onChange, kind = 'line', isRequired }: TextsProps) {
  const { languages, faults } = useEditing()
  const fault = faults[path]
  return (
    <Stack gap={4}>
      {description && <Input.Description>{description}</Input.Description>}
      <SimpleGrid cols={{ base: 1, sm: Math.min(languages.length, 2) }} spacing="xs" verticalSpacing="xs">
        {languages.map((language) => {
          const props = {
            label: languages.length > 1 ? `${label} · ${nameLanguage(language)}` : label,
            mark: isMissing(texts, language) && (
              <Badge component="span" variant="dot" color="yellow.6" tt="none" fw={500} size="sm">
                {t.missing}
              </Badge>
            ),
            value: texts[language] ?? '',
            onChange: (text: string) => onChange(setText(texts, language, text)),
            error: faults[`${path}.${language}`],
            language: language === 'se' ? 'sv' : language,
            isRequired: isRequired === true && Object.keys(texts).length === 0,
          }
          return kind === 'html' ? <HtmlField key={language} {...props} /> : <LineField key={language} {...props} />
        })}
      </SimpleGrid>
      {fault && <Input.Error role="alert">{fault}</Input.Error>}
    </Stack>
  )
}

/** One line into which variables can be inserted. */
export function LineField({ label, mark, value, onChange, error, language, placeholder, isRequired }: LineProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <TextInput
      ref={input}
      label={label}
      withAsterisk={isRequired}
      labelProps={{ className: 'break' }}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      description={mark}
      lang={language}
      spellCheck
      placeholder={placeholder}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
      rightSection={<VariableMenu insert={(text) => onChange(insertAtCursor(input.current, text))} />}
    />
  )
}
