import { Code, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { useCaller } from '../../caller'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { Empty } from '../../parts/empty'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Pages } from '../../parts/record-list'
import { Refusal } from '../../parts/refusal'
import { RoleGate } from '../../parts/role-gate'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { countFilters } from '../../search'
import { fill, loadWords, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const route = getRouteApi('/shell/organizations/$organization/sender-domains')
const t = organizationsWords.domains
const pageSize = 20

type Domain = Schema['SenderDomain']

const filters: Filter[] = [{ key: 'status', label: words.common.status, kind: 'choice', options: t.statuses }]

export const SenderDomains = () => (
  <RoleGate operation="listSenderDomains" title={t.title}>
    <DomainsPage />
  </RoleGate>
)

function DomainsPage() {
  const { organization } = route.useParams()
  const search = route.useSearch()
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<Domain | null>(null)
  const domains = useQuery(
    getList('/v1/organizations/{id}/sender-domains', {
      params: { path: { id: organization }, query: { page_size: pageSize, ...search } },
    }),
  )
  const add = (
    <ActionButton operation="createSenderDomain" onClick={() => setAdding(true)}>
      {t.add}
    </ActionButton>
  )
  return (
    <Stack gap="sm">
      <Heading title={t.title} facts={t.hint} actions={add} />
      {(countFilters(search) > 0 || (domains.data?.count ?? 0) > 3) && <FilterBar search={search} filters={filters} />}
      <Loaded query={domains} heights={[220, 220]}>
        {(page) =>
          page.count === 0 ? (
            countFilters(search) > 0 ? (
              <Empty title={words.common.noMatch} />
            ) : (
              <Empty title={t.empty} hint={t.emptyHint} action={add} />
            )
          ) : (
            <>
              {page.results.map((domain) => (
                <DomainSection key={domain.id} domain={domain} remove={() => setRemoved(domain)} />
              ))}
              <Pages data={page} page={search.page ?? 1} pageSize={pageSize} />
            </>
          )
        }
      </Loaded>
      <FormDialog
        title={t.add}
        isOpen={isAdding}
        close={() => setAdding(false)}
        submitLabel={t.add}
        initialValues={{ domain: '' }}
        send={(body, headers) =>
          api.POST('/v1/organizations/{id}/sender-domains', { params: { path: { id: organization } }, body, headers })
        }
      >
        {(form) => (
          <TextInput
            label={t.domain}
            description={t.domainHint}
            required
            data-autofocus
            {...form.getInputProps('domain')}
          />
        )}
      </FormDialog>
      <FormDialog
        title={t.remove}
        isOpen={removed !== null}
        close={() => setRemoved(null)}
        submitLabel={t.remove}
        isDangerous
        done={t.removed}
        initialValues={{}}
        send={(_, headers) =>
          api.DELETE('/v1/organizations/{id}/sender-domains/{domain_id}', {
            params: { path: { id: organization, domain_id: removed?.id ?? '' } },
            headers,
          })
        }
      >
        {() => <Text size="sm">{fill(t.removeText, { name: removed?.domain ?? '' })}</Text>}
      </FormDialog>
    </Stack>
  )
}

function DomainSection({ domain, remove }: { domain: Domain; remove: () => void }) {
  const person = useCaller()
  const params = { path: { id: domain.organization_id, domain_id: domain.id } }
  const verify = useChange((by_hand: boolean, headers) =>
    api.POST('/v1/organizations/{id}/sender-domains/{domain_id}/verify', {
      params,
      body: by_hand ? { by_hand } : {},
      headers,
    }),
  )
  const isVerified = domain.status === 'verified'
  return (
    <Section
      title={domain.domain}
      hint={<DomainState domain={domain} />}
      actions={
        <>
          {person?.is_superuser && !isVerified && (
            <ActionButton
              size="xs"
              variant="default"
              operation="verifySenderDomain"
              loading={verify.isPending && verify.variables}
              onClick={() => verify.mutate(true)}
            >
              {t.verifyByHand}
            </ActionButton>
          )}
          <ActionButton
            size="xs"
            variant={isVerified ? 'default' : 'filled'}
            operation="verifySenderDomain"
            loading={verify.isPending && !verify.variables}
            onClick={() => verify.mutate(false)}
          >
            {t.verify}
          </ActionButton>
          <ActionButton size="xs" variant="default" operation="deleteSenderDomain" onClick={remove}>
            {words.common.remove}
          </ActionButton>
        </>
      }
    >
      <Stack gap="xs">
        {verify.error && <Refusal error={verify.error} />}
        <Records domain={domain} />
      </Stack>
    </Section>
  )
}

/** Tells whether e-mails can come from the domain, and what the last check says. */
function DomainState({ domain }: { domain: Domain }) {
  const { last_check: check, verified_at, verified_by } = domain
  return (
    <Group gap="xs" component="span" mt={4}>
      <Status tone={domain.status === 'verified' ? 'good' : 'act'} label={t.statuses[domain.status]} />
      {check === null ? (
        verified_at === null && t.notChecked
      ) : (
        <span>
          {check.outcome !== 'verified' && `${t.outcomes[check.outcome]} `}
          {t.checked} <Time at={check.at} age />
        </span>
      )}
      {verified_at !== null && (
        <span>
          {t.verifiedSince} <Time at={verified_at} date /> {verified_by === 'superuser' && t.bySuperuser}
        </span>
      )}
    </Group>
  )
}

const Records = ({ domain }: { domain: Domain }) => (
  <ScrollTable label={`${t.records}: ${domain.domain}`} width={560}>
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{words.common.type}</Table.Th>
        <Table.Th>{t.recordName}</Table.Th>
        <Table.Th>{t.recordValue}</Table.Th>
        <Table.Th>{t.records}</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {domain.records.map((record) => (
        <Table.Tr key={`${record.type}${record.name}${record.value}`}>
          <Table.Td className="nowrap">
            {record.type}
            {record.priority !== null && ` (${t.priority} ${record.priority})`}
          </Table.Td>
          <CopiedCell text={record.name} name={t.recordName} />
          <CopiedCell text={record.value} name={t.recordValue} />
          <Table.Td className="nowrap">{t.purposes[record.purpose]}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </ScrollTable>
)

const CopiedCell = ({ text, name }: { text: string; name: string }) => (
  <Table.Td>
    <Group gap={4} wrap="nowrap" align="start">
      <Code className="break">{text}</Code>
      <Copy text={text} name={`${name} ${text}`} />
    </Group>
  </Table.Td>
)
