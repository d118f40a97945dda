import { ActionIcon, Combobox, Text, Tooltip, useCombobox } from '@mantine/core'
import { IconBraces } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { get } from '../../api'
import { loadWords, words } from '../../words'
import { useEditing } from './editing'

const t = await loadWords('emailMessages')
const variables = { ...get('/v1/email-messages/template-variables'), staleTime: Infinity }

/** Inserts a variable at the cursor of its field. Variables of lists come in their loop. */
export function VariableMenu({ insert }: { insert: (text: string) => void }) {
  const { messageType } = useEditing()
  const [search, setSearch] = useState('')
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => setSearch(''),
  })
  const categories = useQuery(variables).data?.categories ?? []
  const matches = categories.flatMap(({ name, variables: all }) => {
    const usable = all.filter(
      ({ variable, description, message_types }) =>
        (message_types?.includes(messageType) ?? true) &&
        `${variable} ${description}`.toLowerCase().includes(search.toLowerCase().trim()),
    )
    return usable.length === 0 ? [] : [{ name, usable }]
  })
  return (
    <Combobox
      store={combobox}
      width={340}
      position="bottom-end"
      shadow="md"
      onOptionSubmit={(text) => {
        combobox.closeDropdown()
        insert(text)
      }}
    >
      <Combobox.Target withAriaAttributes={false}>
        <Tooltip label={t.insertVariable}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={t.insertVariable}
            aria-expanded={combobox.dropdownOpened}
            onClick={() => combobox.toggleDropdown()}
          >
            <IconBraces size={16} />
          </ActionIcon>
        </Tooltip>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          aria-label={words.common.search}
          placeholder={words.common.search}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Combobox.Options mah={280} className="scroll" aria-label={t.insertVariable}>
          {matches.map(({ name, usable }) => (
            <Combobox.Group key={name} label={t.variableGroups[name] ?? name}>
              {usable.map(({ variable, description, sample, loop }) => (
                <Combobox.Option key={variable} value={loop ?? `{{ ${variable} }}`}>
                  <Text size="sm" ff="monospace" className="break">
                    {variable}
                  </Text>
                  <Text size="xs" className="break">
                    {description} {sample !== '' && `(${sample})`}
                  </Text>
                </Combobox.Option>
              ))}
            </Combobox.Group>
          ))}
          {matches.length === 0 && <Combobox.Empty>{words.common.noMatch}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}
