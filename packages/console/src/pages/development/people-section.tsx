import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, get, type Schema } from '../../api'
import { useOrganizationId } from '../../caller'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { RoleGate } from '../../parts/role-gate'
import { Section } from '../../parts/section'
import { loadWords, words } from '../../words'

type Member = Schema['OrganizationMember']

const t = await loadWords('development')
const letters = { admin: 'A', manager: 'M', viewer: 'V' } as const
const codes = ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'] as const
const tokenMs = 12 * 60 * 60 * 1000

const readCode = ({ role, edition_id }: Member): string => `${edition_id === null ? 'O' : 'E'}${letters[role]}`

/** Somebody of each of the six roles, as whom the console opens in another tab. */
export const PeopleSection = () => (
  <Section title={t.people} hint={t.peopleHint}>
    <RoleGate operation="listOrganizationMembers">
      <People />
    </RoleGate>
  </Section>
)

function People() {
  const organization = useOrganizationId()
  const members = useQuery({
    ...get('/v1/organizations/{id}/members', {
      params: { path: { id: organization ?? '' }, query: { page_size: 500 } },
    }),
    enabled: organization !== undefined,
  })
  const open = useChange(async ({ id, full_name }: Member, headers) => {
    const expires_at = new Date(Date.now() + tokenMs).toISOString()
    const body = { name: `Console, ${full_name}`.slice(0, 100), member_id: id, expires_at }
    const { data } = await api.POST('/v1/auth/tokens', { body, headers })
    window.open(`/console/#token=${encodeURIComponent(data.token)}`, '_blank', 'noopener')
  })
  return (
    <>
      <Loaded query={members} heights={[160]}>
        {({ results }) => (
          <Table>
            <Table.Tbody>
              {codes.map((code) => (
                <Person
                  key={code}
                  code={code}
                  member={results.find((member) => readCode(member) === code)}
                  isOpening={open.isPending}
                  open={(member) => open.mutate(member)}
                />
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Loaded>
      {open.error && <Refusal error={open.error} />}
    </>
  )
}

interface PersonProps {
  code: (typeof codes)[number]
  member: Member | undefined
  isOpening: boolean
  open: (member: Member) => void
}

function Person({ code, member, isOpening, open }: PersonProps) {
  const name = member?.full_name || member?.email
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {name ?? <Text c="dimmed">{t.nobody}</Text>}
        <Text size="sm" c="dimmed">
          {words.common.roles[code]}
        </Text>
      </Table.Th>
      <Table.Td ta="right">
        {member && (
          <ActionButton
            operation="createAccessToken"
            size="compact-sm"
            variant="default"
            disabled={isOpening}
            aria-label={`${t.open}: ${name}`}
            onClick={() => open(member)}
          >
            {t.open}
          </ActionButton>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
