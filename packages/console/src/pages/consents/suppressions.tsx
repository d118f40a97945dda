import { Alert, FileInput, List, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { useOrganizationId, useRefusalReason } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { Empty } from '../../parts/empty'
import { ExportButton } from '../../parts/export-button'
import { Facts } from '../../parts/facts'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { linkTo } from '../../parts/record-link'
import { type Column, RecordList } from '../../parts/record-list'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { fill, formatCount, loadWords, plural } from '../../words'
import { listOptions } from './options'

type Suppression = Schema['Suppression']

const route = getRouteApi('/shell/editions/$edition/suppressions')
const t = await loadWords('consents')
const pageSize = 50

const stopsAll = ({ reason }: Suppression): boolean => reason === 'hard_bounce' || reason === 'invalid'

const filters: Filter[] = [
  { key: 'address', label: t.addressFilter, kind: 'text' },
  { key: 'channel', label: t.channel, kind: 'choice', options: t.channelNames },
  { key: 'reason', label: t.reason, kind: 'choice', options: t.suppressionReasons },
]

const listColumns = (edition: string, lift: (one: Suppression) => void): Column<Suppression>[] => [
  { key: 'address', label: t.address, sort: 'address', cell: ({ address }) => address },
  { key: 'channel', label: t.channel, cell: ({ channel }) => t.channelNames[channel] },
  {
    key: 'reason',
    label: t.reason,
    cell: (one) => <Status tone={stopsAll(one) ? 'bad' : 'act'} label={t.suppressionReasons[one.reason]} />,
  },
  { key: 'stops', label: t.stops, cell: ({ reason }) => t.reasonHints[reason] },
  { key: 'detail', label: t.detail, cell: ({ detail }) => detail },
  {
    key: 'campaign',
    label: t.campaign,
    cell: ({ campaign_id: id }) =>
      id !== null && (
        <Link className="link" {...linkTo(`/editions/${edition}/campaigns/${id}`)}>
          {t.openCampaign}
        </Link>
      ),
  },
  { key: 'since', label: t.since, sort: 'created', cell: ({ created }) => <Time at={created} /> },
  {
    key: 'lift',
    label: t.lift,
    cell: (one) => (
      <ActionButton size="compact-sm" variant="default" operation="liftSuppression" onClick={() => lift(one)}>
        {t.lift}
      </ActionButton>
    ),
  },
]

export function Suppressions() {
  const organization = useOrganizationId()
  const refusal = useRefusalReason('listSuppressions')
  return (
    <Stack gap="sm">
      {refusal !== null || organization === undefined ? (
        <>
          <Heading title={t.suppressions} />
          {refusal !== null && <Empty title={refusal} />}
        </>
      ) : (
        <Addresses organization={organization} />
      )}
    </Stack>
  )
}

function Addresses({ organization }: { organization: string }) {
  const { edition } = route.useParams()
  const search = route.useSearch()
  const [isAdding, adding] = useDisclosure(false)
  const [isImporting, importing] = useDisclosure(false)
  const [lifted, setLifted] = useState<Suppression | null>(null)
  const { ordering = '-created', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery(getList('/v1/suppressions', { params: { query } }))
  const actions = (
    <>
      <ExportButton
        operation="exportSuppressions"
        path="/v1/suppressions/export"
        init={{ params: { query: { organization_id: organization } } }}
        fileName="suppressions.csv"
      />
      <ActionButton operation="importSuppressions" variant="default" onClick={importing.open}>
        {t.import}
      </ActionButton>
      <ActionButton operation="addSuppression" onClick={adding.open}>
        {t.suppress}
      </ActionButton>
    </>
  )
  return (
    <>
      <Heading title={t.suppressions} facts={t.suppressionHint} actions={actions} />
      <FilterBar search={search} filters={filters} />
      <RecordList
        name="suppressions"
        label={t.suppressions}
        list={list}
        search={{ ...search, ordering }}
        columns={listColumns(edition, setLifted)}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.suppressionCount)}
        empty={{ title: t.suppressionEmpty, hint: t.suppressionEmptyHint }}
      />
      <AddDialog organization={organization} isOpen={isAdding} close={adding.close} />
      <ImportDialog organization={organization} isOpen={isImporting} close={importing.close} />
      {lifted && <LiftDialog suppression={lifted} close={() => setLifted(null)} />}
    </>
  )
}

interface DialogProps {
  organization: string
  isOpen: boolean
  close: () => void
}

const AddDialog = ({ organization, isOpen, close }: DialogProps) => (
  <FormDialog
    title={t.suppress}
    isOpen={isOpen}
    close={close}
    submitLabel={t.suppress}
    done={t.suppressed}
    initialValues={{
      channel: 'email' as Suppression['channel'],
      address: '',
      reason: 'unsubscribed' as Suppression['reason'],
      detail: '',
    }}
    send={(values, headers) =>
      api.POST('/v1/suppressions', { body: { ...values, organization_id: organization }, headers })
    }
  >
    {(form) => (
      <>
        <Text size="sm">{t.suppressText}</Text>
        <Select
          label={t.channel}
          allowDeselect={false}
          data={listOptions(t.channelNames)}
          {...form.getInputProps('channel')}
        />
        <TextInput label={t.address} required data-autofocus maxLength={254} {...form.getInputProps('address')} />
        <Select
          label={t.reason}
          description={t.reasonHints[form.values.reason]}
          allowDeselect={false}
          data={listOptions(t.suppressionReasons)}
          {...form.getInputProps('reason')}
        />
        <TextInput label={t.detail} maxLength={500} {...form.getInputProps('detail')} />
      </>
    )}
  </FormDialog>
)

function ImportDialog({ organization, isOpen, close }: DialogProps) {
  const [result, setResult] = useState<Schema['SuppressionImport'] | null>(null)
  return (
    <>
      <FormDialog
        title={t.importTitle}
        isOpen={isOpen}
        close={close}
        size="lg"
        submitLabel={t.import}
        canSubmit={({ csv }) => csv.trim() !== ''}
        initialValues={{ channel: 'email' as Suppression['channel'], csv: '' }}
        send={(values, headers) =>
          api.POST('/v1/suppressions/import', { body: { ...values, organization_id: organization }, headers })
        }
        onSent={({ data }) => setResult(data)}
      >
        {(form) => (
          <>
            <Text size="sm">{t.importText}</Text>
            <Select
              label={t.channel}
              allowDeselect={false}
              data={listOptions(t.channelNames)}
              {...form.getInputProps('channel')}
            />
            <FileInput
              label={t.importFile}
              accept=".csv,.tsv,.txt,text/csv"
              clearable
              onChange={async (file) => form.setFieldValue('csv', file === null ? '' : await file.text())}
            />
            <Textarea
              label={t.importPaste}
              placeholder={'address,reason\nanna@example.com,unsubscribed'}
              autosize
              minRows={4}
              maxRows={10}
              maxLength={900_000}
              {...form.getInputProps('csv')}
            />
          </>
        )}
      </FormDialog>
      <Modal opened={result !== null} onClose={() => setResult(null)} title={t.importResult}>
        {result && <ImportResult result={result} />}
      </Modal>
    </>
  )
}

const ImportResult = ({ result }: { result: Schema['SuppressionImport'] }) => (
  <Stack gap="sm">
    <Facts
      facts={(Object.keys(t.importNumbers) as (keyof typeof t.importNumbers)[]).map((key) => [
        t.importNumbers[key],
        formatCount(result[key]),
      ])}
    />
    {result.problems.length > 0 && (
      <Alert color="yellow" variant="outline" title={t.importProblems}>
        <List size="sm">
          {result.problems.map(({ line, message }) => (
            <List.Item key={`${line}${message}`}>
              {t.line} {formatCount(line)}: {message}
            </List.Item>
          ))}
        </List>
      </Alert>
    )}
  </Stack>
)

const LiftDialog = ({ suppression, close }: { suppression: Suppression; close: () => void }) => (
  <FormDialog
    title={t.liftTitle}
    isOpen
    close={close}
    submitLabel={t.lift}
    done={t.lifted}
    initialValues={{ lift_reason: '' }}
    send={(body, headers) =>
      api.POST('/v1/suppressions/{id}/lift', { params: { path: { id: suppression.id } }, body, headers })
    }
  >
    {(form) => (
      <>
        <Text size="sm" className="break">
          {fill(t.liftText, { address: suppression.address })}
        </Text>
        <TextInput
          label={t.liftReason}
          description={t.liftReasonHint}
          required
          data-autofocus
          maxLength={500}
          {...form.getInputProps('lift_reason')}
        />
      </>
    )}
  </FormDialog>
)
