import {
  ActionIcon,
  Button,
  Grid,
  Group,
  Image,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { IconArrowBarToLeft, IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { get } from '../../api'
import { useEdition } from '../../caller'
import { ImagePicker } from '../../parts/image-field'
import { nameLanguage } from '../../parts/names'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { fill, loadWords, words } from '../../words'
import type { ProductValues } from './product-values'
import { useCategoryNames } from './products'
import { TranslationFields } from './translation-fields'

const catalogueWords = await loadWords('catalogue')

const t = catalogueWords.products

interface FormProps {
  form: UseFormReturnType<ProductValues>
}

interface Props extends FormProps {
  edition: string
  organization: string
}

export const ProductFields = ({ form, edition, organization }: Props) => (
  <>
    <Basics form={form} edition={edition} />
    <Variants form={form} />
    <Options form={form} />
    <Section title={t.rules}>
      <Stack gap="sm">
        <Toggle form={form} name="is_variant_required" label={t.isVariantRequired} />
        <Toggle form={form} name="is_pickup_required" label={t.isPickupRequired} />
        <Group gap="md">
          <Toggle form={form} name="is_wallet_enabled" label={t.isWalletEnabled} hint={t.walletHint} />
          <Link className="link" to="/editions/$edition/pass-designs" params={{ edition }}>
            {t.passDesigns}
          </Link>
        </Group>
      </Stack>
    </Section>
    <Images form={form} edition={edition} organization={organization} />
    <Section title={t.aliases} hint={t.aliasesHint}>
      <TagsInput aria-label={t.aliases} {...form.getInputProps('aliases')} />
    </Section>
  </>
)

interface ToggleProps extends FormProps {
  name: string
  label: string
  hint?: string
}

const Toggle = ({ form, name, label, hint }: ToggleProps) => (
  <Switch label={label} description={hint} {...form.getInputProps(name, { type: 'checkbox' })} />
)

function Basics({ form, edition }: FormProps & { edition: string }) {
  const categories = useCategoryNames(edition)
  const details = useEdition()
  const currency = details?.currency.toUpperCase()
  return (
    <Section title={t.one}>
      <Stack gap="sm">
        <Grid>
          <Grid.Col span={{ base: 12, sm: 8 }}>
            <TextInput
              label={words.common.name}
              description={
                details && fill(catalogueWords.defaultLanguage, { language: nameLanguage(details.default_language) })
              }
              required
              maxLength={200}
              {...form.getInputProps('name')}
            />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 4 }} display="flex">
            <Select
              mt="auto"
              w="100%"
              label={t.category}
              placeholder={t.noCategory}
              clearable
              searchable
              data={Object.entries(categories).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('category_id')}
            />
          </Grid.Col>
        </Grid>
        <TranslationFields
          value={form.values.name_translations}
          onChange={(translations) => form.setFieldValue('name_translations', translations)}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <NumberInput
            label={`${t.price} (${currency ?? ''})`}
            description={t.priceHint}
            min={0}
            decimalScale={2}
            {...form.getInputProps('price')}
          />
          <NumberInput
            label={`${t.deposit} (${currency ?? ''})`}
            description={t.priceHint}
            min={0}
            decimalScale={2}
            {...form.getInputProps('deposit')}
          />
        </SimpleGrid>
        <Toggle form={form} name="is_draft" label={t.isDraft} hint={t.isDraftHint} />
      </Stack>
    </Section>
  )
}

const RemoveRow = ({ name, remove }: { name: string; remove: () => void }) => (
  <ActionIcon variant="subtle" color="gray" aria-label={fill(t.removeRow, { name })} onClick={remove}>
    <IconTrash size={16} />
  </ActionIcon>
)

const AddRow = ({ label, add }: { label: string; add: () => void }) => (
  <Button variant="default" size="xs" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>
    {label}
  </Button>
)

const Variants = ({ form }: FormProps) => (
  <Section
    title={t.variants}
    hint={t.variantsHint}
    actions={<AddRow label={t.addVariant} add={() => form.insertListItem('variants', { name: '', is_active: true })} />}
  >
    {form.values.variants.length > 0 && (
      <Table withRowBorders={false}>
        <Table.Tbody>
          {form.values.variants.map(({ id, name }, index) => (
            <Table.Tr key={id ?? index}>
              <Table.Td>
                <TextInput
                  aria-label={`${t.variant} ${index + 1}`}
                  required
                  autoFocus={id === undefined && name === ''}
                  {...form.getInputProps(`variants.${index}.name`)}
                />
              </Table.Td>
              <Table.Td w={110}>
                <Switch label={t.active} {...form.getInputProps(`variants.${index}.is_active`, { type: 'checkbox' })} />
              </Table.Td>
              <Table.Td w={40}>
                <RemoveRow
                  name={name || `${t.variant} ${index + 1}`}
                  remove={() => form.removeListItem('variants', index)}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    )}
  </Section>
)

const Options = ({ form }: FormProps) => (
  <Section
    title={t.options}
    hint={t.optionsHint}
    actions={
      <AddRow
        label={t.addOption}
        add={() => form.insertListItem('options', { name: '', price_mod: 0, deposit_mod: 0 })}
      />
    }
  >
    {form.values.options.length > 0 && (
      <ScrollTable label={`${t.options}: ${t.priceMod}`} width={520} withRowBorders={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.common.name}</Table.Th>
            <Table.Th w={150}>{t.priceMod}</Table.Th>
            <Table.Th w={150}>{t.depositMod}</Table.Th>
            <Table.Th w={40} aria-label={words.common.remove} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {form.values.options.map(({ id, name }, index) => (
            <Table.Tr key={id ?? index}>
              <Table.Td>
                <TextInput
                  aria-label={`${t.option} ${index + 1}`}
                  required
                  autoFocus={id === undefined && name === ''}
                  {...form.getInputProps(`options.${index}.name`)}
                />
              </Table.Td>
              {(['price_mod', 'deposit_mod'] as const).map((key) => (
                <Table.Td key={key}>
                  <NumberInput
                    aria-label={`${key === 'price_mod' ? t.priceMod : t.depositMod}: ${name}`}
                    decimalScale={2}
                    {...form.getInputProps(`options.${index}.${key}`)}
                  />
                </Table.Td>
              ))}
              <Table.Td>
                <RemoveRow
                  name={name || `${t.option} ${index + 1}`}
                  remove={() => form.removeListItem('options', index)}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
    )}
  </Section>
)

function Images({ form, edition, organization }: Props) {
  const [isOpen, setOpen] = useState(false)
  const ids = form.values.image_ids
  return (
    <Section title={t.images} actions={<AddRow label={t.addImage} add={() => setOpen(true)} />}>
      {ids.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.noImages}
        </Text>
      ) : (
        <Group gap="sm" align="start">
          {ids.map((id, index) => (
            <ProductImage
              key={id}
              id={id}
              isFirst={index === 0}
              remove={() => form.removeListItem('image_ids', index)}
              moveFirst={() => form.setFieldValue('image_ids', [id, ...ids.filter((other) => other !== id)])}
            />
          ))}
        </Group>
      )}
      {isOpen && (
        <ImagePicker
          title={t.addImage}
          organization={organization}
          edition={edition}
          close={() => setOpen(false)}
          choose={({ id }) => {
            if (!ids.includes(id)) form.insertListItem('image_ids', id)
            setOpen(false)
          }}
        />
      )}
    </Section>
  )
}

interface ImageProps {
  id: string
  isFirst: boolean
  remove: () => void
  moveFirst: () => void
}

function ProductImage({ id, isFirst, remove, moveFirst }: ImageProps) {
  const file = useQuery(get('/v1/files/{id}', { params: { path: { id } } })).data
  const name = file?.title || file?.name || id
  return (
    <Stack gap={2} className="tile" p={4}>
      <Image src={file?.image?.thumbnail ?? undefined} alt={name} h={90} w={120} fit="contain" />
      <Group gap={2} justify="end">
        {!isFirst && (
          <ActionIcon variant="subtle" color="gray" aria-label={`${t.moveFirst}: ${name}`} onClick={moveFirst}>
            <IconArrowBarToLeft size={16} />
          </ActionIcon>
        )}
        <ActionIcon variant="subtle" color="gray" aria-label={`${t.removeImage}: ${name}`} onClick={remove}>
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
    </Stack>
  )
}
