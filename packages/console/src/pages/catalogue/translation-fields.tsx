import { SimpleGrid, TextInput } from '@mantine/core'
import { useEdition } from '../../caller'
import { type LanguageCode, nameLanguage } from '../../parts/names'
import { fill, loadWords } from '../../words'

const catalogueWords = await loadWords('catalogue')

type Translations = Record<string, string>

interface Props {
  value: Translations
  onChange: (translations: Translations) => void
}

/** The name in the other languages of the edition. An empty field removes the translation. */
export function TranslationFields({ value, onChange }: Props) {
  const edition = useEdition()
  const languages = new Set<LanguageCode>([
    ...(edition?.enabled_languages ?? []),
    ...(Object.keys(value) as LanguageCode[]),
  ])
  const others = [...languages].filter((language) => language !== edition?.default_language)
  if (others.length === 0) return null
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {others.map((language) => (
        <TextInput
          key={language}
          label={fill(catalogueWords.nameIn, { language: nameLanguage(language) })}
          value={value[language] ?? ''}
          onChange={({ currentTarget: { value: text } }) => {
            const { [language]: _, ...rest } = value
            onChange(text === '' ? rest : { ...rest, [language]: text })
          }}
        />
      ))}
    </SimpleGrid>
  )
}
