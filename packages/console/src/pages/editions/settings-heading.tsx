import { ifUnchanged } from '@event-commerce/client'
import { Group, List, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, type Schema } from '../../api'
import type { Operation } from '../../generated/roles'
import { ActionButton } from '../../parts/action-button'
import type { Version } from '../../parts/edit-form'
import { EditionState } from '../../parts/edition-state'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { linkTo } from '../../parts/record-link'
import { Time } from '../../parts/time'
import { fill, loadWords, plural } from '../../words'
import { getHealth } from './checks'

const t = await loadWords('editionSettings')

type Edition = Schema['EditionDetail']

/** The steps between the states of an edition. */
const steps = {
  publish: {
    body: { is_draft: false },
    title: t.publishTitle,
    text: t.publishText,
    label: t.publish,
    done: t.published,
  },
  unpublish: {
    body: { is_draft: true },
    title: t.unpublishTitle,
    text: t.unpublishText,
    label: t.unpublish,
    done: t.unpublished,
  },
  archive: {
    body: { is_archived: true },
    title: t.archiveTitle,
    text: t.archiveText,
    label: t.archive,
    done: t.archived,
  },
  unarchive: {
    body: { is_archived: false },
    title: t.unarchiveTitle,
    text: t.unarchiveText,
    label: t.unarchive,
    done: t.unarchived,
  },
}
type Step = keyof typeof steps

export function SettingsHeading({ latest }: { latest: Version<Edition> }) {
  const edition = latest.data
  const health = useQuery(getHealth(edition.id)).data
  const [step, setStep] = useState<Step | null>(null)
  const [isDuplicating, setDuplicating] = useState(false)
  const critical = health?.summary.critical ?? 0
  const button = (name: Step, options: { reason?: string | null; variant?: string } = {}) => (
    <ActionButton
      variant="default"
      {...options}
      operation={'updateEdition' satisfies Operation}
      onClick={() => setStep(name)}
    >
      {steps[name].label}
    </ActionButton>
  )
  return (
    <>
      <Heading
        title={`${t.title}: ${edition.full_name}`}
        mark={<EditionState edition={edition} />}
        facts={
          edition.published_at === null ? (
            t.neverPublished
          ) : (
            <>
              {t.publishedSince} <Time at={edition.published_at} date />
            </>
          )
        }
        actions={
          <Group gap="xs">
            <span id="duplicate" tabIndex={-1}>
              <ActionButton variant="default" operation="duplicateEdition" onClick={() => setDuplicating(true)}>
                {t.duplicate}
              </ActionButton>
            </span>
            <span id="archive" tabIndex={-1}>
              {button(edition.is_archived ? 'unarchive' : 'archive')}
            </span>
            {!edition.is_archived &&
              (edition.is_draft
                ? button('publish', {
                    variant: 'filled',
                    reason: health && !health.can_publish ? plural(critical, t.blocked) : null,
                  })
                : button('unpublish'))}
          </Group>
        }
      />
      <FormDialog
        title={step === null ? '' : fill(steps[step].title, { name: edition.full_name })}
        isOpen={step !== null}
        close={() => setStep(null)}
        submitLabel={step === null ? '' : steps[step].label}
        done={step === null ? '' : steps[step].done}
        initialValues={{}}
        send={(_, headers) =>
          api.PATCH('/v1/editions/{id}', {
            params: { path: { id: edition.id } },
            body: step === null ? {} : steps[step].body,
            headers: { ...headers, ...ifUnchanged(latest.etag) },
          })
        }
      >
        {() => (
          <Stack gap="xs">
            <Text size="sm">{step !== null && steps[step].text}</Text>
            {step === 'publish' && (health?.summary.warning ?? 0) > 0 && (
              <Text size="sm" fw={500}>
                {plural(health?.summary.warning ?? 0, t.publishWarnings)}
              </Text>
            )}
          </Stack>
        )}
      </FormDialog>
      <DuplicateDialog edition={edition} isOpen={isDuplicating} close={() => setDuplicating(false)} />
    </>
  )
}

function DuplicateDialog({ edition, isOpen, close }: { edition: Edition; isOpen: boolean; close: () => void }) {
  const navigate = useNavigate()
  const query = { organization_id: edition.organization.id, page_size: 500, ordering: ['name' as const] }
  const events = useQuery({ ...get('/v1/events', { params: { query } }), enabled: isOpen }).data?.results ?? []
  return (
    <FormDialog
      title={fill(t.duplicateTitle, { name: edition.full_name })}
      isOpen={isOpen}
      close={close}
      size="lg"
      submitLabel={t.duplicate}
      done={t.duplicated}
      initialValues={{
        name: '',
        slug: '',
        event_id: edition.event.id,
        email_template_mode: 'copy' as 'copy' | 'share',
      }}
      send={({ slug, ...body }, headers) =>
        api.POST('/v1/editions/{id}/duplicate', {
          params: { path: { id: edition.id } },
          body: { ...body, ...(slug && { slug }) },
          headers,
        })
      }
      onSent={({ data }) => navigate(linkTo(`/editions/${data.id}/settings`) as never)}
    >
      {(form) => (
        <>
          <TextInput label={t.newName} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
          <Group grow align="start">
            <Select
              label={t.event}
              searchable
              allowDeselect={false}
              data={events.map(({ id, name }) => ({ value: id, label: name }))}
              {...form.getInputProps('event_id')}
            />
            <TextInput
              label={t.newSlug}
              description={t.newSlugHint}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              {...form.getInputProps('slug')}
            />
          </Group>
          <Radio.Group label={t.templateMode} {...form.getInputProps('email_template_mode')}>
            <Stack gap={4} mt={4}>
              {Object.entries(t.templateModes).map(([value, label]) => (
                <Radio key={value} value={value} label={label} />
              ))}
            </Stack>
          </Radio.Group>
          <Copied edition={edition.id} />
        </>
      )}
    </FormDialog>
  )
}

/** Counts the objects that a duplicate gets copies of. */
function Copied({ edition }: { edition: string }) {
  const query = { edition_id: edition, page_size: 1 }
  const counts = {
    products: useQuery(get('/v1/products', { params: { query } })).data?.count,
    categories: useQuery(get('/v1/categories', { params: { query } })).data?.count,
    locations: useQuery(get('/v1/locations', { params: { query } })).data?.count,
    consents: useQuery(get('/v1/consents', { params: { query } })).data?.count,
    passDesigns: useQuery(get('/v1/pass-designs', { params: { query } })).data?.count,
  }
  return (
    <div>
      <Text size="sm">{t.duplicateText}</Text>
      <List size="sm" spacing={2}>
        {Object.entries(counts).map(
          ([key, count]) =>
            count !== undefined && (
              <List.Item key={key}>{plural(count, t.copied[key as keyof typeof t.copied])}</List.Item>
            ),
        )}
      </List>
      <Text size="sm" c="dimmed" mt="xs">
        {t.notCopied}
      </Text>
    </div>
  )
}
