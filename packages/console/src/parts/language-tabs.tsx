import { Badge, Tabs } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { words } from '../words'
import { type LanguageCode, languageCodes, nameLanguage } from './names'

interface Props {
  /** The languages that are offered. Default: all of the product. */
  languages?: readonly LanguageCode[]
  initial?: LanguageCode | undefined
  /** True if the texts of the language are not written. */
  isMissing: (language: LanguageCode) => boolean
  children: (language: LanguageCode) => ReactNode
}

/** The texts of one language after the other. Languages without texts say so. */
export function LanguageTabs({ languages = languageCodes, initial, isMissing, children }: Props) {
  const [chosen, setChosen] = useState<LanguageCode | undefined>(initial)
  const language = chosen !== undefined && languages.includes(chosen) ? chosen : languages[0]
  if (language === undefined) return null
  return (
    <Tabs value={language} onChange={(value) => setChosen(value as LanguageCode)} keepMounted={false}>
      <Tabs.List mb="sm">
        {languages.map((code) => (
          <Tabs.Tab
            key={code}
            value={code}
            rightSection={
              isMissing(code) && (
                <Badge variant="default" size="xs" tt="none">
                  {words.common.empty}
                </Badge>
              )
            }
          >
            {nameLanguage(code)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={language}>{children(language)}</Tabs.Panel>
    </Tabs>
  )
}
