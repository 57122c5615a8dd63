import { ManifestError, readManifest } from '../operation/persisted/manifest.ts';
import { readFiles } from '../operation/persisted/manifest-files.ts';
import { type DocumentMode, documentModes } from '../operation/persisted/policy.ts';
import { authSettings } from './auth-settings.ts';
import { optional, required, type SettingsReader, type Values } from './reader.ts';
import { redisSettings } from './redis-settings.ts';
import { oneOf, onOff, text, whole } from './settings.ts';

/** Persisted documents, and where those are kept that clients register. */
export const persistedSettings = {
  files: optional(
    'PERSISTED_DOCUMENTS',
    text(
      'Manifests of persisted documents',
      undefined,
      'the path of a file or a folder, or a glob such as manifests/*.json',
    ),
  ),
  mode: required(
    'PERSISTED_DOCUMENTS_MODE',
    oneOf(
      'off ignores manifests, allow runs their documents beside any other, log reports what only would refuse, only runs nothing else and is the default with AUTH=jwt',
      'allow',
      documentModes,
    ),
  ),
  strict: required(
    'PERSISTED_DOCUMENTS_STRICT',
    onOff('Whether a listed document that is not valid is a start-up error', 'off'),
  ),
  getMaxAge: required(
    'PERSISTED_GET_MAX_AGE',
    whole('How long clients may cache the answer of a GET by id, in seconds', '0', 0, 31_536_000),
  ),
  automatic: optional(
    'APQ',
    onOff(
      'Whether clients may register documents by hash; unset: on, off with PERSISTED_DOCUMENTS_MODE=only',
      undefined,
    ),
  ),
  ...redisSettings,
};

/** Reads which documents are run. Notes if their manifests are missing or cannot be read. */
export function readPersisted(reader: SettingsReader): Values<typeof persistedSettings> {
  const { mode: modeSetting, files } = persistedSettings;
  const values = reader.all(persistedSettings);
  const isJwt = reader.read(authSettings.auth) === 'jwt';
  const isGiven = reader.isSet(modeSetting.name);
  // A token says who asks; which documents may be asked, only their list does.
  const mode: DocumentMode = isJwt && !isGiven ? 'only' : values.mode;
  if (isJwt && mode !== 'only')
    reader.warnings.push(
      `${modeSetting.name}: with AUTH=jwt expected only, but it is ${mode}: any user may run any document`,
    );
  const origin = isGiven ? `set in ${reader.placeOf(modeSetting.name)}` : 'its default with AUTH=jwt';
  if (mode === 'only' || mode === 'log') reader.need(files, `${modeSetting.name} is ${mode} (${origin})`);
  if (mode !== 'off' && values.files !== undefined) checkManifests(values.files, reader);
  return Object.freeze({ ...values, mode });
}

function checkManifests(files: string, reader: SettingsReader): void {
  try {
    for (const manifest of readFiles(files)) readManifest(manifest.file, manifest.text);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error;
    reader.fault(persistedSettings.files.name, error.message);
  }
}
