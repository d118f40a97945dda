import { Alert, Button, Group, Modal, Stack, Table, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { useCaller, useOrganizationId } from '../../caller'
import { useChange } from '../../form'
import { Facts } from '../../parts/facts'
import { type LanguageCode, nameLanguage } from '../../parts/names'
import { Refusal } from '../../parts/refusal'
import { ScrollTable } from '../../parts/scroll-table'
import { SearchSelect } from '../../parts/search-select'
import { formatCount, loadWords, words } from '../../words'
import { nameCustomer } from './name'

const consentsWords = await loadWords('consents')

type User = Schema['User']
type Merge = Schema['UserMerge']

const t = await loadWords('users')

interface Props {
  user: User
  close: () => void
}

/** Shows what a merge would do before it is done. */
export function MergeDialog({ user, close }: Props) {
  const organization = useOrganizationId()
  const [other, setOther] = useState<string | null>(null)
  const params = { path: { id: user.id } }
  const preview = useMutation({
    mutationFn: async (user_id: string) =>
      (await api.POST('/v1/user/{id}/merge', { params, body: { user_id, dry_run: true } })).data,
  })
  const merge = useChange(
    (user_id: string, headers) => api.POST('/v1/user/{id}/merge', { params, body: { user_id }, headers }),
    { done: t.merged, onSent: close },
  )
  return (
    <Modal opened onClose={close} title={t.mergeTitle} size="lg">
      <Stack gap="sm">
        <Text size="sm">{t.mergeHint}</Text>
        <SearchSelect<User>
          label={t.mergeWith}
          placeholder={t.searchHint}
          data-autofocus
          value={other}
          rows={(search) =>
            getList('/v1/user', { params: { query: { organization_id: organization, search, ordering: ['email'] } } })
          }
          toOption={(one) => ({
            value: one.id,
            label: [nameCustomer(one), one.email ?? one.phone_number].filter(Boolean).join(' · '),
            disabled: one.id === user.id,
          })}
          onChange={(id) => {
            setOther(id)
            preview.reset()
            merge.reset()
            if (id !== null) preview.mutate(id)
          }}
        />
        {preview.error && <Refusal error={preview.error} />}
        {preview.data && <MergePreview merge={preview.data} />}
        {merge.error && <Refusal error={merge.error} />}
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={close}>
            {words.common.cancel}
          </Button>
          <Button
            color="red.9"
            disabled={!preview.data || other === null}
            loading={merge.isPending || preview.isPending}
            onClick={() => other !== null && merge.mutate(other)}
          >
            {t.mergeConfirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

const fieldNames: Readonly<Record<string, string>> = {
  email: words.common.email,
  phone_number: words.common.phone,
  first_name: t.firstName,
  last_name: t.lastName,
  locale: t.language,
  date_joined: t.joined,
  last_seen: t.lastSeen,
}
const statuses: Readonly<Record<string, string>> = consentsWords.statuses

/** Writes a value that is kept or dropped, with codes of the API as words. */
const writeValue = ({ type, name }: Merge['collisions'][number], value: string): string =>
  type === 'consent' ? (statuses[value] ?? value) : name === 'locale' ? nameLanguage(value as LanguageCode) : value

function MergePreview({ merge }: { merge: Merge }) {
  const editions = new Map(useCaller()?.editions.map(({ id, full_name }) => [id, full_name]))
  const moved = (Object.keys(t.mergeMoved) as (keyof Merge['moved'])[]).filter((key) => merge.moved[key] > 0)
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm">
        {t.mergeMoves}
      </Text>
      {moved.length === 0 ? (
        <Text size="sm">{t.mergeNothing}</Text>
      ) : (
        <Facts facts={moved.map((key) => [t.mergeMoved[key], formatCount(merge.moved[key])])} />
      )}
      {merge.collisions.length > 0 && (
        <>
          <Text fw={600} size="sm">
            {t.mergeBoth}
          </Text>
          <ScrollTable label={t.mergeBoth} width={480}>
            <Table.Thead>
              <Table.Tr>
                <Table.Td />
                <Table.Th>{t.mergeKept}</Table.Th>
                <Table.Th>{t.mergeDropped}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {merge.collisions.map((collision) => {
                const { type, name, kept, dropped } = collision
                return (
                  <Table.Tr key={`${type}${name}`}>
                    <Table.Td className="break">
                      {t.mergeTypes[type]}: {fieldNames[name] ?? editions.get(name) ?? name}
                    </Table.Td>
                    <Table.Td className="break">{kept === null ? t.mergeOne : writeValue(collision, kept)}</Table.Td>
                    <Table.Td className="break">{dropped === null ? '–' : writeValue(collision, dropped)}</Table.Td>
                  </Table.Tr>
                )
              })}
            </Table.Tbody>
          </ScrollTable>
        </>
      )}
      {merge.earlier_addresses.length > 0 && (
        <Facts facts={[[t.mergeEarlier, merge.earlier_addresses.map(({ address }) => address).join(', ')]]} />
      )}
      <Alert color="red" variant="outline">
        {t.mergeForever}
      </Alert>
    </Stack>
  )
}
